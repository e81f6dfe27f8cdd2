#!/usr/bin/env bash
# data/lines.pl: SGML, XML, TMX and columns become lines, decoded and in order; damaged text is rejected in one line.
set -euo pipefail
fail() {
  echo "FAILED: $*" >&2
  exit 1
}
lines() { "$SOURCE/data/lines.pl" "$@" >said 2>err || fail "lines.pl $*: $(<err)"; }
holds() { # FILE, then the lines that it holds
  local file=$1
  shift
  cmp "$file" <(printf '%s\n' "$@") || fail "$file: $(<"$file")"
}

cat >news.sgm <<'END'
<!DOCTYPE mteval SYSTEM "ftp://jaguar.ncsl.nist.gov/mt/resources/mteval-xml-v1.3.dtd">
<SRCSET setid="news" srclang="any">
<doc sysid="src" docid="a/1" genre='news' origlang=en>
<hl>
<seg id="1">Research &amp; development at AT&T: 1 < 2 &lt; 3</seg>
</hl>
<p>
<seg id="2"> Caf&#233; &#x20AC;5,
on two   lines </seg>
<seg id="3"></seg><!-- <seg id="4">not this</seg> -->
</p>
</doc>
<doc docid="b"><p><seg id="1">&quot;&apos;&gt;&nbsp;</seg></p></doc>
</SRCSET>
END
cat >news.xml <<'END'
<?xml version='1.0' encoding='utf-8'?>
<dataset id="news">
  <collection id="general">
  <doc origlang="en" id="a">
    <src lang="en"><p><seg id="1">One &amp; two</seg>
    <seg id="2"><![CDATA[<b> & c]]></seg></p></src>
    <ref lang="de" translator="A"><p><seg id="1">Eins und zwei</seg><seg id="2">A2</seg></p></ref>
    <hyp lang="de" system="online"><p><seg id="1">H1</seg><seg id="2"/></p></hyp>
  </doc>
  <doc id="b">
    <src><p><seg id="1">Three</seg></p></src>
    <ref translator="A"><p><seg id="1">Drei</seg></p></ref>
    <ref translator="B"><p><seg id="1">3</seg></p></ref>
    <hyp system="online"><p><seg id="1">H3</seg></p></hyp>
  </doc>
  </collection>
</dataset>
END
cat >memory.tmx <<'END'
<?xml version="1.0"?><!DOCTYPE tmx SYSTEM "tmx14.dtd">
<tmx version="1.4"><header srclang="en"><prop type="x">text</prop></header><body>
<tu tuid="1"><note>a note</note>
<tuv xml:lang="en"><seg>Press <bpt i="1">&lt;b></bpt>OK<ept i="1">&lt;/b></ept><ph x="1"/> &amp; <hi>wait</hi></seg></tuv>
<tuv xml:lang="fr"><seg>Appuyez</seg></tuv></tu>
<tu><tuv xml:lang="en"><seg>alone</seg></tuv></tu>
<tu><tuv xml:lang="fr"><seg>deux</seg></tuv><tuv xml:lang="en"><seg>two</seg></tuv></tu>
</body></tmx>
END
lines news.sgm out
holds out.src "Research & development at AT&T: 1 < 2 < 3" "Café €5, on two lines" "" "\"'>&nbsp;"
{ printf '\xef\xbb\xbf' && sed 's/$/\r/' news.sgm; } | gzip >packed.sgm.gz
lines packed.sgm.gz packed
cmp out.src packed.src || fail "a byte order mark, CR or gzip changes the text"
lines news.xml xml
holds xml.src "One & two" "<b> & c" "Three"
holds xml.ref "Eins und zwei" "A2" "Drei"
holds xml.hyp "H1" "" "H3"
[[ $(<err) == "lines: news.xml: ref of 'B' is in 1 of 2 documents and is left out" && ! -e xml.ref.B ]] || fail "$(<err)"
lines memory.tmx tmx
holds tmx.en "Press OK & wait" "two"
holds tmx.fr "Appuyez" "deux"
[[ $(<err) == *"1 of 3 units lack one of the languages en fr"* ]] || fail "$(<err)"
{ printf '\xff\xfe' && iconv -f UTF-8 -t UTF-16LE memory.tmx; } >wide.tmx
lines wide.tmx wide
cmp wide.fr tmx.fr || fail "UTF-16 is read otherwise"
printf 'a  b\tx\t\nc\ty\tz\n' >columns.tsv
lines columns.tsv tsv
holds tsv.1 "a b" "c"
holds tsv.3 "" "z"

# Sides in files of their own, and of several translators.
set_of() { # ELEMENT SEGMENT...: a set with these segments, each with its tags
  local element=$1
  shift
  printf '<%s>\n' "$element"
  printf '<doc %s>a</seg></doc>\n' "$@"
  printf '</%s>\n' "$element"
}
set_of srcset 'docid=a><seg id=1' 'docid=a><seg id=2' 'docid=b><seg id=1' >one.sgm
set_of refset 'docid=a><seg id=1' 'id=a><seg id=2' 'genre=c><seg id=7' >same.sgm
lines one.sgm same.sgm both
[[ -s both.src && -s both.ref ]] || fail "not both sides: $(<said)"
set_of refset 'docid=1 sysid=r1><seg id=1' 'docid=1 sysid=r2><seg id=1' >two.sgm
lines two.sgm two
[[ -s two.ref.r1 && -s two.ref.r2 ]] || fail "not both translators: $(<said)"

refused() { # TEXT ARGUMENTS...: the one-line error contains TEXT
  local fact=$1 status=0
  shift
  "$SOURCE/data/lines.pl" "$@" refused >said 2>err || status=$?
  [[ $status == 1 && $(wc -l <err) == 1 && $(<err) == "lines: "*"$fact"* ]] || fail "$fact: code $status: $(<err)"
  [[ ! -e refused.src && ! -e refused.ref && ! -e refused.1 ]] || fail "$fact: a rejected text left files"
}
set_of refset 'docid=a><seg id=1' 'docid=a><seg id=3' 'docid=b><seg id=1' >other.sgm
refused "other.sgm line 3: found segment '3' of document 'a', but expected segment '2' of document 'a', which is in one.sgm line 3" \
  one.sgm other.sgm
head -c 30 packed.sgm.gz >cut.sgm.gz
refused "cannot read none.sgm" none.sgm
refused "none of .sgm" said
"$SOURCE/data/lines.pl" cut.sgm.gz refused >said 2>err && fail "cut.sgm.gz is read"
grep -q "^lines: cannot read cut.sgm.gz" err || fail "cut.sgm.gz: $(<err)"
set_of refset 'docid=a><seg id=1' >short.sgm
refused "short.sgm has 1 segments of ref, but one.sgm has 3 of src" one.sgm short.sgm
while IFS='~' read -r name fact text; do
  printf %b "$text" >"$name"
  refused "$fact" "$name"
done <<'END'
r.sgm~line 4: the tag <seg> is inside a segment~<refset>\n<doc>\n<seg>a\n<seg>b</seg></doc></refset>
r.sgm~line 3: the tag </doc> is inside a segment~<refset>\n<doc><seg>a\n</doc></refset>
r.sgm~line 2: there is text outside of <seg>~<refset><doc>\na</seg></doc></refset>
r.sgm~</seg> has no <seg>~<refset><doc><p></seg></doc></refset>
r.sgm~line 2: a '<' begins no complete tag~<refset><doc>\n<seg id="1>a</seg></doc></refset>
r.sgm~</doc> was found where </refset> was expected~<refset><doc><seg>a</seg></doc></doc></refset>
r.sgm~<doc> is inside <doc>~<refset><doc><seg>a</seg><doc></doc></refset>
r.sgm~&#0; does not refer to a character~<refset><doc><seg>&#0;</seg></doc></refset>
r.sgm~&#xD800; does not refer to a character~<refset><doc><seg>&#xD800;</seg></doc></refset>
r.sgm~line 2: a '<' begins no complete~<refset><doc><seg>a</seg>\n<!-- b</doc></refset>
r.sgm~<src> is inside <doc>~<refset><doc><src><seg>a</seg></src></doc></refset>
r.sgm~holds no segments~<refset><doc><p></p></doc></refset>
r.sgm~line 2: not valid UTF-8~<refset><doc>\n<seg>\xff</seg></doc></refset>
r.sgm~line 3: the file ends without </doc>~<refset><doc>\n<seg>a</seg>\n
r.sgm~line 2: the file ends inside a segment~<refset><doc>\n<seg>a
r.sgm~line 2: <refset> follows the end~<refset></refset>\n<refset></refset>
r.sgm~<html> is the first tag~<html>\n<p>a</p></html>
r.sgm~line 1: there is text before the first tag~one sentence\na line
r.xml~line 2: an '&' does not begin~<dataset>\n<doc><src><seg>AT&T</seg></src></doc></dataset>
r.xml~line 2: a '<' begins no complete~<dataset>\n<doc><src><seg>1 < 2</seg></src></doc></dataset>
r.xml~<ref> ends with 2 segments, but <src> of this document has 1~<dataset><doc><src><seg>1</seg></src><ref><seg>1</seg><seg>2</seg></ref></doc></dataset>
r.xml~second <src>~<dataset><doc><src><seg>1</seg></src><src><seg>1</seg></src></doc></dataset>
r.xml~<seg> is inside <doc>~<dataset><doc><seg>1</seg></doc></dataset>
r.tmx~<dataset> is the first tag, but <tmx> was expected~<dataset></dataset>
r.tmx~line 2: </tu> was found where </tuv> was expected~<tmx><body><tu>\n<tuv lang="en"><seg>a</seg></tu></body></tmx>
r.tmx~holds no segments~<tmx><body></body></tmx>
r.tsv~line 2: the number of columns is 1, but line 1 has 2~a\tb\nc\n
r.tsv~line 1: the number of columns is 1, but two or more were expected~a\n
r.tsv~holds no segments~
END
# What ends too early is never read as a whole; only the last line end may be missing.
for whole in news.sgm news.xml memory.tmx; do
  size=$(($(wc -c <$whole) - 2))
  for ((length = 1; length <= size; length += 37)); do
    head -c $length $whole >cut.${whole#*.}
    ! "$SOURCE/data/lines.pl" cut.${whole#*.} refused >said 2>err || fail "$length bytes of $whole are read"
  done
done
