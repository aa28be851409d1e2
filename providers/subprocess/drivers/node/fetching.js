// What programs share with node's own machinery.

// followCompiling sees to what fetch is made of: with its first use, or that of Headers and
// their like, some nodes compile a part of it, and no fetch would ever go on without.
function followCompiling() {
  const { compile } = WebAssembly;
  inPlaceOf(WebAssembly, 'compile', function (...args) {
    const own = current, f = () => Reflect.apply(compile, this, args);
    return own && calledBy(/^node:internal\/deps\//) ? importing.compile(own, f) : f();
  });
}

// hasRequests tells whether a request is under way by an agent that has others wait for it,
// which would be for ever.
const { _getActiveHandles: activeHandles } = process;
function hasRequests() {
  const isLimited = ({ maxSockets, maxTotalSockets } = {}) => maxSockets !== Infinity || maxTotalSockets !== Infinity;
  try {
    return activeHandles.call(process).some((h) => listenerCount.call(h, 'agentRemove') > 0 && isLimited(h._httpMessage?.agent));
  } catch {
    return true; // the program has changed them
  }
}
