import { copyFile, mkdir, readFile, writeFile } from 'node:fs/promises';
import { expect } from 'chai';
import { changeFile } from '../../scripts/docs/walk/change-file.js';
import { outputProblem } from '../../scripts/docs/walk/expected-output.js';
import { stepsOf } from '../../scripts/docs/walk/page-steps.js';
import type { RunStep } from '../../scripts/docs/walk/page-steps.js';
import { Terminal } from '../../scripts/docs/walk/terminal.js';
import { clientFromKubeConfig } from '../../lib/client/index.js';
import type { ConnectedClient } from '../../lib/client/index.js';
import { controllerOf } from '../../lib/object/owner-reference.js';
import { Pod } from '../../lib/object/kinds.js';
import { cli, scratchDirectory } from '../cli/cli.js';
import { linkPackages } from '../cli/project/project-copy.js';
import type { ControlPlane } from './control-plane/control-plane.js';
import { eventually } from './control-plane/eventually.js';
import { sharedControlPlane } from './control-plane/shared.js';
import { ProjectOperator } from './project-operator.js';

const page = 'docs/tutorial.md';
const name = 'alnair-pod';
const key = { name: 'alnairpod-sample', namespace: 'default' };

describe('the operator of the tutorial on a real API server', () => {
  const file = scratchDirectory();
  let plane: ControlPlane;
  let admin: ConnectedClient;
  let terminal: Terminal;
  let operator: ProjectOperator | undefined;

  before(async () => {
    plane = await sharedControlPlane();
    admin = await clientFromKubeConfig({ path: plane.kubeConfigPath });
    const folder = file(name);
    await mkdir(folder);
    // `init` requires this file, but the project uses the package of the checkout.
    await writeFile(file('operator-builder-0.1.0.tgz'), '');
    await copyFile(plane.kubeConfigPath, file('kubeconfig'));
    const env = { ...process.env, TMPDIR: file(), KUBECONFIG: file('kubeconfig') };
    terminal = new Terminal({ folder, env });
  });

  after(async () => {
    await admin.close();
  });

  it('works as the page describes, with the permissions of the page', async () => {
    try {
      await walk();
      expect(operator?.output).not.to.include('permissions are missing');
      expect(await operator?.stop()).to.equal(0);
    } finally {
      await operator?.stop();
      await terminal.run('kubectl delete --ignore-not-found --wait=false -k config/default');
    }
  });

  async function walk(): Promise<void> {
    let applied = false;
    for (const step of stepsOf(await readFile(page, 'utf8'))) {
      if (step.type === 'write' || step.type === 'edit') await changeFile(step, file(name));
      else if (step.type === 'run' && step.where === 'here') await make(step);
      else if (step.type === 'run' && step.where === 'cluster') {
        // Outputs may appear late, and steps must not run twice.
        await (step.output === undefined ? onCluster(step) : eventually(() => onCluster(step)));
        if (!applied) await begin();
        applied = true;
      }
    }
  }

  /** Runs the commands that create the project in this process, and skips `run`. */
  async function make({ script }: RunStep): Promise<void> {
    for (const [, line = ''] of script.matchAll(/^(?:npx )?operator-builder (.*)$/gm)) {
      if (line.startsWith('run ')) continue;
      const result = await cli(line.split(' '), { cwd: file(name) });
      expect(result.code, line + result.stderr).to.equal(0);
      if (line.startsWith('init ')) linkPackages(file(name));
    }
  }

  async function onCluster({ script, output }: RunStep): Promise<void> {
    operator?.check();
    const ended = await terminal.run(script);
    expect(ended.code, `${script}${ended.output}`).to.equal(0);
    if (output !== undefined) expect(outputProblem(output, ended.output)).to.equal(undefined);
  }

  /** Starts the operator, and waits for its Pod. Expects that no request was forbidden. */
  async function begin(): Promise<void> {
    operator = await ProjectOperator.start({ folder: file(name), name, plane, admin });
    const pod = await eventually(() => admin.get(Pod, key), 60_000);
    expect(controllerOf(pod)).to.include({ kind: 'AlnairPod', name: key.name });
    const requests = await plane.auditLog.read({ user: operator.user });
    expect(requests.filter(({ code }) => code === 403)).to.deep.equal([]);
  }
});
