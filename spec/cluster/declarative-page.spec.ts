import { expect } from 'chai';
import { copyFile, readFile } from 'node:fs/promises';
import { changeFile } from '../../scripts/docs/walk/change-file.js';
import { outputProblem } from '../../scripts/docs/walk/expected-output.js';
import { stepsOf } from '../../scripts/docs/walk/page-steps.js';
import type { RunStep } from '../../scripts/docs/walk/page-steps.js';
import { Terminal } from '../../scripts/docs/walk/terminal.js';
import { clientFromKubeConfig } from '../../lib/client/index.js';
import type { ConnectedClient } from '../../lib/client/index.js';
import { Deployment } from '../../lib/object/kinds.js';
import { program as sourceProgram, scratchDirectory } from '../cli/cli.js';
import type { ControlPlane } from './control-plane/control-plane.js';
import { eventually } from './control-plane/eventually.js';
import { sharedControlPlane } from './control-plane/shared.js';
import { DeployedPod } from './deployed-pod.js';

const page = 'docs/declarative-in-a-cluster.md';
const deployment = { name: 'quotas-controller-manager', namespace: 'quotas-system' };

describe(`the operators of ${page} on a real API server`, () => {
  const file = scratchDirectory();
  let plane: ControlPlane;
  let admin: ConnectedClient;
  let terminal: Terminal;
  let pod: DeployedPod | undefined;
  let starts = 0;
  /** The images that the page pushes. */
  let pushed: readonly string[] = [];

  before(async () => {
    plane = await sharedControlPlane();
    admin = await clientFromKubeConfig({ path: plane.kubeConfigPath });
    await copyFile(plane.kubeConfigPath, file('kubeconfig'));
    const env = { ...process.env, TMPDIR: file(), KUBECONFIG: file('kubeconfig') };
    terminal = new Terminal({ folder: file(), env });
  });

  after(async () => {
    await pod?.stop();
    const all = '--ignore-not-found --wait=false';
    await terminal.run(`kubectl delete ${all} -k with-views/config/default`);
    await terminal.run(`kubectl delete ${all} namespace quotas-demo`);
    await admin.close();
  });

  it('work as the page describes, with the permissions of the page', async () => {
    const text = await readFile(page, 'utf8');
    pushed = [...text.matchAll(/^IMG=(\S+) npm .*docker:push$/gm)].map(([, image = '']) => image);
    for (const step of stepsOf(text)) {
      if (step.type === 'write') await changeFile(step, file());
      else if (step.type === 'run' && step.where === 'here') await runHere(step);
      else if (step.type === 'run' && step.where === 'cluster') await runOnCluster(step);
    }
    await seesViews();
    const { spec } = await admin.get(Deployment, deployment);
    expect(spec?.strategy?.rollingUpdate).to.deep.equal({ maxSurge: 0, maxUnavailable: 1 });
    expect(await pod?.stop(), pod?.output).to.equal(0);
    expect(pod?.output).not.to.include('permissions are missing');
    const requests = await plane.auditLog.read({ user: pod?.user ?? '' });
    expect(requests.filter(({ code }) => code === 403)).to.deep.equal([]);
  });

  /** Runs commands in which `operator-builder` is the program of this repository's sources. */
  async function runHere({ script, output, exitCode }: RunStep): Promise<void> {
    const words = sourceProgram.map((word) => `'${word}'`).join(' ');
    const ended = await terminal.run(`operator-builder() { ${words} "$@"; }\n${script}`);
    expect(ended.code, `${script}${ended.output}`).to.equal(exitCode);
    if (output !== undefined) expect(outputProblem(output, ended.output)).to.equal(undefined);
  }

  /** Runs commands; an applied Deployment gets a new pod, of an image that the page pushes. */
  async function runOnCluster({ script }: RunStep): Promise<void> {
    pod?.check();
    const { code, output } = await terminal.run(script);
    expect(code, `${script}${output}`).to.equal(0);
    if (!script.includes(' apply ')) return;
    await pod?.stop();
    const { spec } = await admin.get(Deployment, deployment);
    expect(pushed).to.include(spec?.template.spec?.containers[0]?.image);
    const folder = file(`pod-${++starts}`);
    const places = { folder, project: file('deploy') };
    pod = await DeployedPod.start({ key: deployment, ...places, plane, admin });
  }

  async function seesViews(): Promise<void> {
    const kubeconfig = await readFile(file('views.kubeconfig'), 'utf8');
    const text = kubeconfig.replace(':18443', () => `:${pod?.portOf('views') ?? 0}`);
    const views = await clientFromKubeConfig({ text });
    const limit = { apiVersion: 'quotas.view.dcontroller.io/v1alpha1', kind: 'Limit' };
    await eventually(async () => {
      pod?.check();
      const found = await views.get(limit, { name: 'quota', namespace: 'quotas-demo' });
      expect(found).to.include({ pods: '20' });
    }, 60_000);
    await views.close();
  }
});
