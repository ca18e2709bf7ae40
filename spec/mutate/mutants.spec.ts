import { runInThisContext } from 'node:vm';
import { expect } from 'chai';
import { transformSync } from 'esbuild';
import { blockOf, blocksOf, withCounters } from '../../scripts/mutate/coverage.js';
import { drawn, mutantsOf, switchName, withSwitches } from '../../scripts/mutate/mutants.js';
import type { BlockHits } from '../../scripts/mutate/coverage.js';

describe('The mutation of a source text', () => {
  afterEach(() => {
    Reflect.deleteProperty(process.env, switchName);
  });

  const changes: readonly [what: string, text: string, expected: readonly string[]][] = [
    ['moves the boundary of a comparison', 'x = a < b;', ['a < b → a <= b']],
    ['flips an equality', 'x = a === b;', ['a === b → a !== b']],
    ['negates a condition', 'if (open) x = y;', ['open → !(open)']],
    [
      'negates a condition that is one equality only once',
      'if (a === b) x = y;',
      ['a === b → a !== b'],
    ],
    ['swaps "and" and "or"', 'x = a && b;', ['a && b → (a) || (b)']],
    ['drops a call without a result', 'save(x);', ['save(x); → (dropped)']],
    ['drops an assignment to a field', 'this.x = y;', ['this.x = y; → (dropped)']],
    ['drops a delete', 'delete a.b;', ['delete a.b; → (dropped)']],
    ['removes an await', 'x = await y;', ['await y → y']],
    [
      'changes numbers and booleans',
      'x = [1_000, true][i];',
      ['[1_000, true] → []', '1_000 → 1001', 'true → false'],
    ],
    [
      'drops a name from an object that lists names',
      'x = { a: true, b: true }; y = { c: true };',
      ['a: true → (dropped)', 'b: true → (dropped)', 'true → false'],
    ],
    ['changes a string that decides something', "x = { kind: 'Pod' };", ["'Pod' → 'mutated'"]],
    ['empties what a function returns', '() => { return a; };', ['return a; → return undefined;']],
  ];
  for (const [what, text, expected] of changes) {
    it(what, () => {
      const found = mutantsOf('lib/a.ts', text).map(({ change }) => change);

      expect(found).to.deep.equal(expected);
    });
  }

  const left: readonly [what: string, text: string][] = [
    ['types', "type A = 'a' | 1; interface B { c: true } const x: 'y' = z as 'y';"],
    ['imports', "import a from 'a'; export { b } from 'b';"],
    ['errors that are thrown', "throw new OperatorError('NotFound', a === b ? 'c' : 'd');"],
    ['logged lines', "log.info('retried', { count: 1 });"],
    ['strings of a message', "x = { message: 'gone' }; y = 'two words'; z = ', ';"],
    ['targets of an assignment', '[a, b] = c;'],
  ];
  for (const [what, text] of left) {
    it(`does not change ${what}`, () => {
      expect(mutantsOf('lib/a.ts', text)).to.deep.equal([]);
    });
  }

  it('gives each mutant the line number of its change', () => {
    const [mutant] = mutantsOf('lib/a.ts', '\n\nsave();\n');

    expect(mutant?.line).to.equal(3);
  });

  const source = `export function size(list, most) {
  if (list.length > most && most > 0) return most;
  return list.length;
}`;

  it('runs the mutant that an environment variable names, and the original text without it', () => {
    const mutants = mutantsOf('lib/a.ts', source);
    const numbers = new Map(mutants.entries());
    const text = withSwitches(source, numbers);
    const dropped = mutants.findIndex(
      ({ change }) => change === 'return list.length; → return undefined;',
    );
    const swapped = mutants.findIndex(({ kind }) => kind === 'logic');

    expect(sizeIn(text)([7], 2)).to.equal(1);
    process.env[switchName] = String(dropped);
    expect(sizeIn(text)([7], 2)).to.equal(undefined);
    process.env[switchName] = String(swapped);
    expect(sizeIn(text)([7], 2)).to.equal(2);
  });

  it('can leave out one member of an object literal', () => {
    const listing = 'export const size = () => Object.keys({ a: true, b: true }).length;';
    const text = withSwitches(listing, new Map(mutantsOf('lib/a.ts', listing).entries()));

    expect(sizeIn(text)([], 0)).to.equal(2);
    process.env[switchName] = '1';
    expect(sizeIn(text)([], 0)).to.equal(1);
  });

  it('keeps each statement on its line', () => {
    const text = withSwitches(source, new Map(mutantsOf('lib/a.ts', source).entries()));

    expect(text.split('\n')).to.have.length(source.split('\n').length);
  });

  it('draws the same mutants by the same seed after an unrelated change to the source', () => {
    const mutants = mutantsOf('lib/a.ts', source);
    const later = mutantsOf('lib/a.ts', `// Another line.\n${source}`);
    const changesDrawn = (from: typeof mutants, seed: number) =>
      drawn(from, seed, 3).map(({ change }) => change);

    expect(changesDrawn(later, 1)).to.deep.equal(changesDrawn(mutants, 1));
    expect(changesDrawn(mutants, 2)).not.to.deep.equal(changesDrawn(mutants, 1));
  });

  it('counts the executions of each block, which shows what specs run a mutant', () => {
    const mutants = mutantsOf('lib/a.ts', source);
    const blocks = blocksOf('lib/a.ts', source);
    const blockOfChange = (change: string) =>
      blockOf(
        blocks,
        mutants.find((mutant) => mutant.change.startsWith(change))!,
      );

    sizeIn(withCounters('lib/a.ts', source))([7], 2);

    const ran = (globalThis as { __blockHits?: BlockHits }).__blockHits?.['lib/a.ts'];
    expect(ran?.[blockOfChange('return list.length')!]).to.equal(1);
    expect(ran?.[blockOfChange('return most')!]).to.equal(0);
    Reflect.deleteProperty((globalThis as { __blockHits?: BlockHits }).__blockHits!, 'lib/a.ts');
  });
});

type Size = (list: readonly number[], most: number) => number | undefined;

function sizeIn(text: string): Size {
  const { code } = transformSync(text, { loader: 'ts', format: 'cjs' });
  const module = { exports: {} as { size: Size } };
  const run = runInThisContext(`(module) => {${code}}`) as (of: typeof module) => void;
  run(module);
  return module.exports.size;
}
