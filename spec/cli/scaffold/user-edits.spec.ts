import { expect } from 'chai';
import fc from 'fast-check';
import { rm, writeFile } from 'node:fs/promises';
import { isSampled, tries } from '../../sample.js';
import { scratchDirectory } from '../cli.js';
import type { CliResult } from '../cli.js';
import { createApi, createWebhook, makeProject, textsIn } from './project.js';

type Texts = Readonly<Record<string, string>>;

type Step =
  | { readonly type: 'insert'; readonly file: number; readonly line: number; readonly text: string }
  | { readonly type: 'remove'; readonly file: number; readonly line: number }
  | { readonly type: 'windows'; readonly file: number }
  | Create;

interface Create {
  readonly type: 'create' | 'create-webhook';
  readonly kind: string;
  readonly args: readonly string[];
}

const place = { file: fc.nat(), line: fc.nat() };
const text = fc.oneof(
  fc.string({ maxLength: 40 }).map((line) => line.replaceAll(/[\r\n\0]/g, ' ')),
  fc.constantFrom('', '// mine', '# mine', '  - mine.yaml', '});', '+operator-builder', '---'),
);
const create = fc.record({
  type: fc.constant('create' as const),
  kind: fc.constantFrom('Shop', 'Fleet', 'Plant', 'HTTPRoute'),
  args: fc.tuple(
    fc.constantFrom('v1alpha1', 'v1'),
    fc.constantFrom('--style=builder', '--style=resources', '--no-controller', '--no-namespaced'),
  ),
});
const createHook = fc.record({
  type: fc.constant('create-webhook' as const),
  kind: fc.constant('Shop'),
  args: fc.tuple(
    fc.constantFrom('v1alpha1', 'v1'),
    fc.constantFrom('--defaulting', '--validation', '--conversion'),
  ),
});
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ type: fc.constant('insert' as const), ...place, text }) },
  { weight: 1, arbitrary: fc.record({ type: fc.constant('remove' as const), ...place }) },
  { weight: 1, arbitrary: fc.record({ type: fc.constant('windows' as const), file: place.file }) },
  { weight: 3, arbitrary: create },
  { weight: 2, arbitrary: createHook },
);

/** Files that are generated completely, as their first line says. */
const generated =
  /^config\/(rbac\/(leader_election_)?role|crd\/bases\/.*|webhook\/manifests|default\/conversion_.*)\.yaml$/;

describe('Code of a user', () => {
  const file = scratchDirectory();

  it('is kept by later commands, which write nothing if they cannot keep it', async function () {
    // Writes thousands of small files, which a busy disk delays.
    this.timeout(120_000);
    let count = 0;
    const counts = { create: 0, 'create-webhook': 0 };
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 2, maxLength: 12 }), async (steps) => {
        const folder = file(`project-${++count}`);
        await makeProject(folder, ['Shop']);
        for (const each of steps) {
          const before = await textsIn(folder);
          if (isCreate(each)) {
            const create = each.type === 'create' ? createApi : createWebhook;
            const [version = '', ...flags] = each.args;
            const result = await create(folder, each.kind, version, ...flags);
            expectKept(before, await textsIn(folder), result);
            counts[each.type] += Number(result.code === 0);
          } else {
            const path = Object.keys(before)[each.file % Object.keys(before).length] ?? '';
            await writeFile(`${folder}/${path}`, edited(before[path] ?? '', each));
          }
        }
        await rm(folder, { recursive: true });
      }),
      // A counterexample is reported when time is up, even if it could still be shrunk.
      { numRuns: tries(20), interruptAfterTimeLimit: 90_000 },
    );
    if (isSampled) return;
    expect(counts.create).to.be.above(5);
    expect(counts['create-webhook']).to.be.above(0);
  });
});

function isCreate(step: Step): step is Create {
  return step.type === 'create' || step.type === 'create-webhook';
}

function edited(whole: string, step: Exclude<Step, Create>): string {
  if (step.type === 'windows') return whole.replaceAll(/\r?\n/g, '\r\n');
  const lines = whole.split('\n');
  const at = step.line % lines.length;
  const edit = step.type === 'insert' ? lines.toSpliced(at, 0, step.text) : lines.toSpliced(at, 1);
  return edit.join('\n');
}

function expectKept(before: Texts, after: Texts, { code, stderr }: CliResult): void {
  if (code !== 0) {
    expect(stderr).not.to.equal('');
    expect(after, 'nothing is written').to.deep.equal(before);
    return;
  }
  for (const [path, whole] of Object.entries(before)) {
    if (generated.test(path)) continue;
    const lost = firstLost(ownLines(path, whole), ownLines(path, after[path] ?? ''));
    expect(lost, `a line of ${path}`).to.equal(undefined);
  }
}

/** Returns the lines of a file that belong to the user. */
function ownLines(path: string, whole: string): readonly string[] {
  const lines = whole.split('\n');
  if (path !== 'PROJECT') return lines.filter((line) => !importing.test(line));
  // The fields of PROJECT may change, but not the user's comments. Their indentation follows that of the fields.
  return lines.map((line) => line.trim()).filter((line) => line.startsWith('#'));
}

/** Imports from the package may gain names. */
const importing = /^import .* from 'operator-builder';\r?$/;

/** Returns the first of `lines` that is missing in `others` in that order. */
function firstLost(lines: readonly string[], others: readonly string[]): string | undefined {
  let from = 0;
  for (const line of lines) {
    const found = others.indexOf(line, from);
    if (found < 0) return line;
    from = found + 1;
  }
  return undefined;
}
