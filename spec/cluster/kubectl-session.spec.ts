import { expect } from 'chai';
import { copyFile } from 'node:fs/promises';
import { EmbeddedCluster } from '../../lib/apiserver/index.js';
import { deepEqual } from '../../lib/object/index.js';
import { systemRandom } from '../../lib/system/random.js';
import { sharedControlPlane } from './control-plane/shared.js';
import { Kubectl } from './kubectl.js';
import type { Output } from './kubectl.js';
import { chapters } from './kubectl-session/chapters.js';
import { manifests } from './kubectl-session/manifests.js';
import { normalized } from './kubectl-session/normalize.js';

interface Result extends Output {
  readonly command: string;
}

describe('kubectl on the embedded API server', () => {
  let embedded: EmbeddedCluster;
  let sides: readonly [real: Kubectl, ours: Kubectl];

  before(async () => {
    const { kubeConfigPath } = await sharedControlPlane();
    embedded = await EmbeddedCluster.start({ simulateWorkloads: true, rbac: true });
    await embedded.listen();
    sides = [
      await Kubectl.create((path) => copyFile(kubeConfigPath, path)),
      await Kubectl.create((path) => embedded.writeKubeConfig(path)),
    ];
  });

  after(async () => {
    await Promise.all(sides.map((kubectl) => kubectl.close()));
    await embedded.stop();
  });

  for (const [subject, commands] of Object.entries(chapters)) {
    it(`prints the same about ${subject} as on a real API server`, async () => {
      const results = await Promise.all(
        sides.map((kubectl) => runChapter(kubectl, commands.trim().split('\n'))),
      );
      const [real = [], ours = []] = results;
      const differences = real.flatMap((expected, index) => differenceOf(expected, ours[index]));
      if (differences.length > 0) expect.fail(differences.join('\n'));
    }).timeout(300_000);
  }
});

/** Returns the whole output of both servers where it differs: an assertion would shorten it. */
function differenceOf(real: Result, ours: Result | undefined): readonly string[] {
  if (deepEqual(ours, real)) return [];
  return [`${real.command}\nreal: ${JSON.stringify(real)}\nours: ${JSON.stringify(ours)}`];
}

/** Runs the commands one after the other in a new namespace. */
async function runChapter(kubectl: Kubectl, lines: readonly string[]): Promise<Result[]> {
  const namespace = `session-${systemRandom.uuid().slice(0, 8)}`;
  await kubectl.print(['create', 'namespace', namespace]);
  const results: Result[] = [];
  try {
    for (const line of lines) results.push(await runLine(kubectl, namespace, line));
  } finally {
    await kubectl.print(['delete', 'namespace', namespace, '--wait=false']);
  }
  return results;
}

async function runLine(kubectl: Kubectl, namespace: string, line: string): Promise<Result> {
  const [, compared = '', command = '', manifest] = /^([~!$]?)(.*?)(?: < (\S+))?$/.exec(line) ?? [];
  const words = command.replaceAll('NAMESPACE', namespace).match(/(?:'[^']*'|[^\s'])+/g) ?? [];
  const args = words.map((word) => word.replaceAll("'", ''));
  const own = args.some((word) => word === '-n') ? [] : ['--namespace', namespace];
  const output = await kubectl.run([...own, ...args], manifests[manifest ?? ''] ?? '');
  const { code, stdout, stderr } = normalized(output, namespace);
  if (compared === '~' || compared === '!') return { command: line, code, stdout: '', stderr: '' };
  const shown = compared === '$' ? (stdout.trim().split('\n').at(-1) ?? '') : stdout;
  return { command: line, code, stdout: shown, stderr };
}
