package data_test
import ("testing";"fmt")
func TestTry(t *testing.T){
 g:=open(t,1)
 seen:=map[string]bool{}
 for _,n:=range networks { for _,c:=range []string{"p-chain","x-chain","c-chain"} {
  all:=g.pages(t,"/v1/networks/"+n+"/blockchains/"+c+"/transactions","transactions",100)
  fmt.Println(n,c,len(all))
  for _,x:=range all { k:=c+x["txType"].(string); if !seen[k] {seen[k]=true; s:=encode(x); if len(s)>2500 {s=s[:2500]}; fmt.Println(s)} }
 }}
}
