import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rename, rm } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { withBuildLock } from '../control-plane/build-lock.js';
import { go } from '../control-plane/go.js';

const controllerRuntime = 'sigs.k8s.io/controller-runtime';

/** Test suites of controller-runtime that start an API server, by their package below `pkg/`. */
export const suites = [
  'builder',
  'cache',
  'client',
  'client/apiutil',
  'cluster',
  'controller',
  'controller/controllerutil',
  'envtest',
  'handler',
  'internal/controller',
  'internal/recorder',
  'manager',
  'source',
  'webhook',
] as const;

/** One of {@link suites}. */
export type Suite = (typeof suites)[number];

/** Tests that need a download of an old API server. */
const skipped = 'Test/aggregatedDiscovery=false';

/** The result of a test. */
export type TestResult = 'passed' | { readonly failure: string };

/** Results of a suite's tests by their full names. */
export type TestResults = ReadonlyMap<string, TestResult>;

/** Returns true for the result of a test that ran and passed. */
export function isPassed(result: TestResult | undefined): result is 'passed' {
  return result === 'passed';
}

/**
 * Runs a suite, which starts its API servers by envtest.
 * @param assets - folder with the programs `kube-apiserver` and `etcd`
 * @throws Error: the suite could not be compiled, or it ended without results
 */
export async function runSuite(suite: Suite, assets: string): Promise<TestResults> {
  const { program, folder } = await compiled(suite);
  const scratch = await mkdtemp(join(tmpdir(), 'controller-runtime-'));
  const report = join(scratch, 'report.json');
  try {
    const args = ['-test.v', '-test.timeout=15m', `-test.skip=${skipped}`];
    // A test that fails runs a second time, because a loaded machine may have delayed it.
    args.push(`-ginkgo.json-report=${report}`, '-ginkgo.flake-attempts=2', '-ginkgo.no-color');
    const child = spawn(program, args, {
      cwd: folder,
      env: {
        ...process.env,
        ...{ KUBEBUILDER_ASSETS: assets, USE_EXISTING_CLUSTER: 'false' },
        ...{ KUBEBUILDER_CONTROLPLANE_START_TIMEOUT: '60s' },
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const [output, errors] = await Promise.all([text(child.stdout), text(child.stderr)]);
    const results = new Map([...plainTests(output), ...(await ginkgoTests(report))]);
    if (results.size > 0) return results;
    throw new Error(
      `${suite}: no results; its output ends with\n${(output + errors).slice(-3000)}`,
    );
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}

/** Reads the results of tests without Ginkgo. Leaves out the test that runs Ginkgo. */
function plainTests(output: string): TestResults {
  const lines = output.matchAll(
    /^ *--- (PASS|FAIL): (\S+) \(.*\n((?: +\S+_test\.go.*\n(?: {8}.*\n)*)*)/gm,
  );
  const found = [...lines].map(([, verdict, name = '', log = '']) => {
    return [name, verdict === 'PASS' ? 'passed' : { failure: log }] as const;
  });
  return new Map(found.filter(([name]) => !output.includes(`=== RUN   ${name}\nRunning Suite`)));
}

interface GinkgoReport {
  readonly SpecReports: readonly GinkgoSpec[] | null;
}

interface GinkgoSpec {
  readonly ContainerHierarchyTexts: readonly string[] | null;
  readonly LeafNodeText: string;
  readonly LeafNodeType: string;
  readonly State: string;
  readonly Failure?: {
    readonly Message: string;
    readonly Location: { readonly FileName: string; readonly LineNumber: number };
  };
}

async function ginkgoTests(file: string): Promise<TestResults> {
  if (!existsSync(file)) return new Map();
  const reports = JSON.parse(await readFile(file, 'utf8')) as readonly GinkgoReport[];
  const specs = reports.flatMap(({ SpecReports }) => SpecReports ?? []);
  return new Map(specs.flatMap(resultOf));
}

function resultOf(spec: GinkgoSpec): [string, TestResult][] {
  const { LeafNodeType: type, State: state, Failure: failure } = spec;
  if (state === 'skipped' || state === 'pending' || (type !== 'It' && state === 'passed'))
    return [];
  const texts = [...(spec.ContainerHierarchyTexts ?? []), spec.LeafNodeText];
  const name = type === 'It' ? texts.join(' ') : `[${type}]`;
  if (state === 'passed') return [[name, 'passed']];
  const { Message: message = state, Location: at } = failure ?? {};
  return [[name, { failure: `${message}\n${at?.FileName ?? ''}:${at?.LineNumber ?? ''}` }]];
}

/** Returns the program of a suite and the folder to run it in. Compiles it unless it is in the cache. */
async function compiled(
  suite: Suite,
): Promise<{ readonly program: string; readonly folder: string }> {
  const cwd = import.meta.dirname;
  await go(['mod', 'download', controllerRuntime], { cwd });
  const source = await go(['list', '-m', '-f', '{{.Dir}}', controllerRuntime], { cwd });
  const caches = process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache');
  const cache = join(caches, 'operator-builder', 'controller-runtime', await buildKey(cwd));
  const program = join(cache, `${suite.replace('/', '-')}.test`);
  const result = { program, folder: join(source, 'pkg', suite) };
  if (existsSync(program)) return result;
  await mkdir(cache, { recursive: true });
  await withBuildLock(
    `${program}.lock`,
    (holder) => process.stderr.write(`process ${holder} is compiling ${suite}; waiting for it\n`),
    async () => {
      if (existsSync(program)) return;
      process.stderr.write(`compiling the tests of ${controllerRuntime}/pkg/${suite}\n`);
      const unfinished = `${program}.tmp-${process.pid}`;
      // Go runs in the folder of the module, whose go.mod and go.sum name what its tests need.
      await go(
        [
          'test',
          '-c',
          '-p',
          '1',
          '-vet=off',
          '-ldflags',
          '-s -w',
          '-o',
          unfinished,
          `./pkg/${suite}`,
        ],
        {
          cwd: source,
        },
      );
      await rename(unfinished, program);
    },
  );
  return result;
}

/** Returns a hash of all inputs of the builds. */
async function buildKey(cwd: string): Promise<string> {
  const hash = createHash('sha256').update(await readFile(join(cwd, 'go.mod')));
  hash.update(await go(['env', 'GOVERSION', 'GOOS', 'GOARCH'], { cwd }));
  return hash.digest('hex').slice(0, 16);
}
