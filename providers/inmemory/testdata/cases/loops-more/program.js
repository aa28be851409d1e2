function run(name, f){ try { console.log(name, JSON.stringify(f())) } catch(e){ console.log(name, 'ERR', String(e)) } }
run('catchpat', ()=>{const fs=[]; for (let i=0;i<3;i++){ try { try { throw {a:i,b:i*2} } catch({a, b, c=()=>b}) { fs.push(()=>[a,b,c()]); throw 1 } } catch {} } return fs.map(f=>f())});
run('inner-while', ()=>{const fs=[]; for (let i=0;;) { while(i<3) { fs.push(()=>i); i++; } if (i>5) break; i++; fs.push(()=>i) } return fs.map(f=>f())});
run('inner-while2', ()=>{const fs=[]; for (let i=0;;) { for(;;) { fs.push(()=>i); if (i++>3) break; if (i==2) continue; } if (i>8) break; i++; fs.push(()=>i); continue } return fs.map(f=>f())});
run('update-closure', ()=>{const fs=[]; for (let i=0;i<3;fs.push(()=>i),i++) { if (i==1) continue; } return fs.map(f=>f())});
run('test-closure', ()=>{const fs=[]; for (let i=0;fs.push(()=>i),i<3;i++) { if (i==1) continue; fs.push(()=>i+100)} return fs.map(f=>f())});
run('notest-update', ()=>{const fs=[]; for (let i=0;;i++) { fs.push(()=>i); if (i==1) continue; if (i>3) break } return fs.map(f=>f())});
run('direct', ()=>{const fs=[]; let q=7; for (let z=0;z<3;z++) { eval('for (let i=0;i<2;i++){ fs.push(()=>[i,z,q++]); if(i==0) continue; }; var nn = z'); if (z==1) continue } return [nn,fs.map(f=>f())]});
run('gen', ()=>{const fs=[]; function* g(){ for (let i=0;i<3;i++){ try { let x=i; fs.push(()=>x); yield x; } catch { let w=i; fs.push(()=>w); continue } finally { let v=i; fs.push(()=>v) } } } const it=g(); it.next(); it.throw(1); it.throw(2); it.next(); return fs.map(f=>f())});
run('lines', ()=>{ for (let i=0;i<3;i++){ const f=()=>i; if (i==1) continue; if (i==2) { const o={...'ab'}; null.foo } } });
try { for (let i=0;i<3;i++){ const f=()=>i; if (i==1) continue; 
  if (i==2) { const o={...'ab'}; 
      null.foo } } } catch (e) { console.log(e.stack.split('\n')[1].replace(/.*:(\d+):\d+.*/, '$1')) }
run('retfin', ()=>{const fs=[]; for (let i=0;i<3;i++){ try { let x=i; fs.push(()=>x); return 5 } finally { continue } } return fs.map(f=>f())});
async function a(){ const fs=[]; for (let i=0;i<4;i++){ await null; try { const x=await i; fs.push(()=>[x,i]); if (i==1) continue; await Promise.reject(1) } catch (e) { let k=i; fs.push(()=>k) } } return fs.map(f=>f()) }
a().then(v=>console.log('async', JSON.stringify(v)));
(async()=>{ const fs=[]; for await (const x of [1,2,3]) { let y=x; fs.push(()=>[x,y]); if (x==2) continue; } console.log('fa', JSON.stringify(fs.map(f=>f()))) })();
