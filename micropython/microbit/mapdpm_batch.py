from gc import collect
f=open("mapdpm_batch.txt")
s=l=f.readline()
while l:
 l=f.readline()
 if l[:1]!=" ":
  collect();exec(s);s=""
 s+=l
f.close()
del f,s,l
