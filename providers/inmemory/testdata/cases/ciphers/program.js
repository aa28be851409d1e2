const c=require('crypto'); const t=(n,f)=>{try{console.log(n,f())}catch(e){console.log(n,e.name,e.code,e.message)}};
for (const m of ['aes-128-cbc', 'aes-192-cbc', 'aes-256-ctr', 'aes-256-ecb', 'aes-256-gcm']) {
  const key=Buffer.alloc(+m.slice(4,7)/8,7), iv=m.endsWith('ecb')?null:Buffer.alloc(m.endsWith('gcm')?12:16,255);
  for (const len of [0,1,15,16,17,31,32,33,100]) {
    const a=c.createCipheriv(m,key,iv); if(m.endsWith('gcm')) a.setAAD(Buffer.from('aad'));
    let s=''; for(let i=0;i<len;i+=7) s+=a.update('x'.repeat(Math.min(7,len-i)),'utf8','base64'); s+=a.final('base64'); const tag=m.endsWith('gcm')?a.getAuthTag():null;
    const d=c.createDecipheriv(m,key,iv); if(tag){d.setAAD(Buffer.from('aad'));d.setAuthTag(tag)}
    const raw=Buffer.from(s,'base64'); const out=[]; for(let i=0;i<raw.length;i+=11) out.push(d.update(raw.subarray(i,i+11))); out.push(d.final()); 
    console.log(m,len,s,tag?.toString('hex'),Buffer.concat(out).toString()==='x'.repeat(len));
  }
}
const k=Buffer.alloc(32,1), iv=Buffer.alloc(16,2);
t('unknown',()=>c.createCipheriv('nope',k,iv)); t('keylen',()=>c.createCipheriv('aes-128-cbc',k,iv)); t('iv',()=>c.createCipheriv('aes-256-cbc',k,iv.subarray(1)));
t('bad',()=>{const d=c.createDecipheriv('aes-256-cbc',k,iv); d.update(Buffer.alloc(16)); return d.final('hex')});
t('len',()=>{const d=c.createDecipheriv('aes-256-cbc',k,iv); d.update(Buffer.alloc(15)); return d.final('hex')});
t('gcm',()=>{const d=c.createDecipheriv('aes-256-gcm',k,iv.subarray(4)); d.setAuthTag(Buffer.alloc(16)); d.update(Buffer.alloc(15)); return d.final('hex')});
t('twice',()=>{const d=c.createCipheriv('aes-256-cbc',k,iv); d.final(); return d.final('hex')});
t('after',()=>{const d=c.createCipheriv('aes-256-cbc',k,iv); d.final(); return d.update('a')});
t('nopad',()=>{const d=c.createCipheriv('aes-256-cbc',k,iv); d.setAutoPadding(false); return d.update('a'.repeat(32),'utf8','hex')+d.final('hex')});
t('nopad2',()=>{const d=c.createCipheriv('aes-256-cbc',k,iv); d.setAutoPadding(false); return d.update('a'.repeat(31),'utf8','hex')+d.final('hex')});
t('pb',()=>c.pbkdf2Sync('p','s',1000,70,'sha512').toString('hex')); t('pb2',()=>c.pbkdf2Sync('p','s',1000,70,'nope')); t('pb3',()=>c.pbkdf2Sync('p','s',0,70,'sha1'));
c.pbkdf2('p','s',10,8,'sha1',(e,k)=>console.log('cb',e,k));
const st=c.createCipheriv('aes-256-cbc',k,iv), bits=[]; st.on('data',b=>bits.push(b)); st.on('end',()=>console.log('stream',Buffer.concat(bits).toString('hex'))); st.write('hello '); st.end('world');


