import type { WantedFile } from './plan-files.js';
import type { Project } from './project-file.js';

/** Test runners of a project. */
export const testRunners = ['node', 'vitest'] as const;

/** One of {@link testRunners}: `node:test`, or Vitest. */
export type TestRunner = (typeof testRunners)[number];

const vitestVersion = '^4.1.12';
const timeouts = '--testTimeout=60000 --hookTimeout=60000';

/** Adds the dependencies and scripts of the test runner to package.json. */
export function withTestRunner<T extends Readonly<Record<string, unknown>>>(
  manifest: T,
  runner: TestRunner,
): T {
  if (runner === 'node') return manifest;
  const { scripts, devDependencies } = manifest;
  return {
    ...manifest,
    scripts: { ...(scripts as object), test: `vitest run ${timeouts}` },
    devDependencies: { ...(devDependencies as object), vitest: vitestVersion },
  };
}

/** Adapts tests to the project's test runner; templates use `node:test`. */
export function forTestRunner(
  wanted: readonly WantedFile[],
  { testRunner }: Pick<Project, 'testRunner'>,
): readonly WantedFile[] {
  if (testRunner !== 'vitest') return wanted;
  return wanted.map((file) =>
    file.type === 'whole' && file.path.endsWith('.test.ts')
      ? { ...file, text: forVitest(file.text) }
      : file,
  );
}

function forVitest(text: string): string {
  return text
    .replace("import { test } from 'node:test'", "import { test } from 'vitest'")
    .replace(
      "import { after, before, test } from 'node:test'",
      "import { afterAll as after, beforeAll as before, test } from 'vitest'",
    )
    .replaceAll('async (t) => {', 'async ({ onTestFinished }) => {')
    .replaceAll('t.after(', 'onTestFinished(');
}

/** Returns the debug configurations of Visual Studio Code, including one for the runner's tests. */
export function launchText(text: string, runner: TestRunner): string {
  if (runner === 'node') return text;
  const ofNode = `"runtimeArgs": ["--import", "tsx"],
      "program": "\${file}",`;
  return text.replace(
    ofNode,
    () => `"program": "\${workspaceFolder}/node_modules/vitest/vitest.mjs",
      "args": ["run", "\${relativeFile}"],`,
  );
}
