def a():
 from gc import collect
 try:from micropython import opt_level
 except ImportError:opt_level=abs
 opt_level(3)
 try:f=open("features_int.txt")
 except OSError:raise OSError("no features_int.txt")
 a=b=f.readline()
 while b:
  b=f.readline()
  if b==b.lstrip():
   collect();exec(a,globals());a=""
  a+=b
 f.close()
 opt_level(0)
a()
del a
