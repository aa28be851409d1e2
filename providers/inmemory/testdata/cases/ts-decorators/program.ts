function log(value: any, ctx: ClassMethodDecoratorContext) { return function (this: any, ...args: any[]) { console.log('call', String(ctx.name), args); const r = value.apply(this, args); console.log('ret', r); return r } }
function init(_: undefined, { kind, name }: ClassFieldDecoratorContext) { return (v: any) => { console.log('init', kind, String(name), v); return 666 } }
function reg(c: any, ctx: ClassDecoratorContext) { console.log('class', ctx.name, ctx.kind); ctx.addInitializer(function () { console.log('class init') }); return c }
function bound(v: any, ctx: ClassMethodDecoratorContext) { ctx.addInitializer(function (this: any) { this[ctx.name] = this[ctx.name].bind(this) }) }
@reg class T { @init testA: any; @init static s = 1; @log add(a: number, b: number) { return a + b } @bound who() { return this.testA } @log static st() { return 's' } @log get g() { return 5 } }
const t = new T(); t.add(1, 2); console.log(t.testA, T.s); const { who } = t; console.log(who()); T.st(); console.log(t.g);
