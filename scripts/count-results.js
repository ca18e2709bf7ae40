// Prints the failures of mocha's JSON reports, then `N passed, N failed` as the last line.
// Further arguments of the form `step:NAME` are steps outside of mocha that failed.
import { readFileSync } from 'node:fs';

let passed = 0;
let failed = 0;
for (const argument of process.argv.slice(2)) {
  if (argument.startsWith('step:')) {
    console.log(`failed step: ${argument.slice('step:'.length)}`);
    failed++;
    continue;
  }
  const { stats, failures } = JSON.parse(readFileSync(argument, 'utf8'));
  passed += stats.passes;
  failed += stats.failures;
  for (const { fullTitle, err } of failures) {
    console.log(`failed: ${fullTitle}\n${err.stack ?? err.message}\n`);
  }
}
console.log(`${passed} passed, ${failed} failed`);
process.exitCode = failed === 0 ? 0 : 1;
