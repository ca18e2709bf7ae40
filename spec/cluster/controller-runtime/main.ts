// Runs controller-runtime's own tests on both servers, and compares the results test by test:
// npx tsx spec/cluster/controller-runtime/main.ts [--server embedded|real] [--json FILE] [SUITE]…
import { writeFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { realPrograms, withEmbeddedPrograms } from './servers.js';
import { isPassed, runSuite, suites } from './suites.js';
import type { Suite, TestResults } from './suites.js';

type Server = 'real' | 'embedded';
type Results = Readonly<Partial<Record<Server, TestResults>>>;

const { values, positionals } = parseArgs({
  options: { server: { type: 'string' }, json: { type: 'string' } },
  allowPositionals: true,
});

async function main(): Promise<void> {
  const found = new Map<Suite, Results>();
  for (const suite of chosenSuites()) {
    const results = await resultsOf(suite);
    found.set(suite, results);
    process.stdout.write(`${rowOf(suite, results)}\n`);
  }
  for (const [suite, results] of found) process.stdout.write(failuresOf(suite, results));
  if (values.json !== undefined) await writeFile(values.json, jsonOf(found));
  const missed = [...found.values()].some((results) => missing(results).length > 0);
  process.exitCode = missed ? 1 : 0;
}

function chosenSuites(): readonly Suite[] {
  const unknown = positionals.find((name) => !(suites as readonly string[]).includes(name));
  if (unknown === undefined) return positionals.length === 0 ? suites : (positionals as Suite[]);
  throw new Error(`unknown suite ${unknown}; want ${suites.join(', ')}`);
}

async function resultsOf(suite: Suite): Promise<Results> {
  const { server } = values;
  const own =
    server !== 'real' && (await withEmbeddedPrograms((assets) => runSuite(suite, assets)));
  const real = server !== 'embedded' && (await runSuite(suite, await realPrograms()));
  return { ...(real && { real }), ...(own && { embedded: own }) };
}

/** Returns the line of a suite: the number of passed tests on each server. */
function rowOf(suite: Suite, results: Results): string {
  const counts = Object.entries(results).map(([server, tests]) => {
    const passed = [...tests.values()].filter(isPassed).length;
    return `${server} ${passed} of ${tests.size}`;
  });
  return `${suite}: ${counts.join(', ')}`;
}

/** Returns the tests that pass on the real server only; without its results, those that fail. */
function missing({ real, embedded }: Results): readonly string[] {
  if (embedded === undefined) return [];
  const wanted = real === undefined ? [...embedded.keys()] : [...real.keys()];
  return wanted.filter((name) => {
    const passes = real === undefined || isPassed(real.get(name));
    return passes && !isPassed(embedded.get(name));
  });
}

function failuresOf(suite: Suite, results: Results): string {
  const lines = Object.entries(results).flatMap(([server, tests]) =>
    [...tests].map(([name, result]) => {
      return isPassed(result) ? '' : `\n${suite}, ${server}: ${name}\n  ${result.failure}\n`;
    }),
  );
  return lines.join('');
}

function jsonOf(found: ReadonlyMap<Suite, Results>): string {
  const objects = [...found].map(([suite, results]) => {
    const tests = Object.entries(results).map(([server, of]) => [server, Object.fromEntries(of)]);
    return [suite, Object.fromEntries(tests)] as const;
  });
  return JSON.stringify(Object.fromEntries(objects), null, 2);
}

await main();
