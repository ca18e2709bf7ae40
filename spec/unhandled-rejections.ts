// Mocha ignores a rejected promise that nothing handles. An operator ends with it, so a spec fails.
process.on('unhandledRejection', (reason) => {
  const said = reason instanceof Error ? reason.stack : undefined;
  const message = `nothing handles a rejected promise, which ends an operator: ${said ?? String(reason)}`;
  throw new Error(message, { cause: reason });
});
