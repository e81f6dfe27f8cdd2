a = b;
c = b;
