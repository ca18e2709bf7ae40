// Mocha ignores unhandled rejections. Node.js would end an operator because of one, so the spec must fail.
process.on('unhandledRejection', (reason) => {
  const said = reason instanceof Error ? reason.stack : undefined;
  const message = `nothing handles a rejected promise, which ends an operator: ${said ?? String(reason)}`;
  throw new Error(message, { cause: reason });
});
