import { expect } from 'chai';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { eventually } from '../../../lib/testing/index.js';
import { cli, scratchDirectory, startCli } from '../cli.js';
import type { CliResult, RunningCli } from '../cli.js';
import { copyShopProject, replaceFile } from './project.js';

/** An operator that lists ConfigMaps, which it does not declare unless in `requires`. */
const operatorThatLists = (requires = ''): string => `
import { ConfigMap, controllerFor, done } from 'operator-builder';
import type { OperatorDefinition } from 'operator-builder';
import { Shop } from './shop.js';

const shops = controllerFor(Shop).complete(async ({ key, client }) => {
  const { items } = await client.list(ConfigMap, { namespace: 'default' });
  const body = { status: { image: String(items.length) } };
  await client.patch(Shop, key, { type: 'merge', body }, { subresource: 'status' });
  return done();
});

export const operator: OperatorDefinition = {
  name: 'shops',
  resources: [Shop],
  setup: (manager) => void manager.add(shops, { requires: [${requires}] }),
};
`;

const roleWith = (generated: string, own: string): string => `
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata:
  name: manager-role
rules:
${generated}  # +operator-builder:scaffold:rules
${own}---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata:
  name: manager-rolebinding
roleRef:
  apiGroup: rbac.authorization.k8s.io
  kind: ClusterRole
  name: manager-role
subjects:
  - kind: ServiceAccount
    name: controller-manager
    namespace: system
`;

const entry = "{ type: ConfigMap, verbs: ['list'] }";
const rule = "{ apiGroups: [''], resources: [configmaps], verbs: [list] }";
const missing = [
  'controller shop: its role does not allow it to list configmaps in namespace default; ' +
    'add the entry to requires of the controller, or the rule to config/rbac/role.yaml',
  `  requires: ${entry}`,
  `  rule: ${rule}`,
].join('\n');

describe('The role of an operator in operator-builder run --embedded', () => {
  const file = scratchDirectory();
  let running: RunningCli | undefined;

  before(async () => {
    const sample = { apiVersion: 'shops.example/v1', kind: 'Shop', metadata: { name: 'a' } };
    await writeFile(file('shop.yaml'), JSON.stringify({ ...sample, spec: {} }));
  });

  afterEach(async () => {
    running?.stop();
    await running?.ended;
    running = undefined;
  });

  const argsOf = (project: string, ...more: readonly string[]): readonly string[] => [
    ...['run', '--embedded', '--project', project, '-f', file('shop.yaml')],
    ...['--kubeconfig-out', file('kubeconfig'), '--log-level', 'silent', ...more],
  ];

  async function newProject(name: string, role?: string): Promise<string> {
    await copyShopProject(file(name));
    await writeFile(file(name, 'src/operator.ts'), operatorThatLists());
    if (role !== undefined) {
      await mkdir(file(name, 'config/rbac'), { recursive: true });
      await writeFile(file(name, 'config/rbac/role.yaml'), role);
    }
    return file(name);
  }

  const run = async (project: string, ...more: readonly string[]): Promise<CliResult> =>
    cli(argsOf(project, '--until-settled', ...more));

  it('causes a failure at the first missing rule, which the command prints', async () => {
    const project = await newProject('missing');
    const { code, stderr } = await run(project);
    expect({ code, stderr }).to.deep.equal({ code: 1, stderr: `error: ${missing}\n` });
  });

  it('is not applied with --as-admin', async () => {
    const project = await newProject('admin');
    expect(await run(project, '--as-admin')).to.include({ code: 0, stderr: '' });
  });

  it('includes the rules below the marker in config/rbac/role.yaml, but not those above the marker', async () => {
    const above = await newProject('above', roleWith(`  - ${rule}\n`, ''));
    expect(await run(above)).to.include({ code: 1, stderr: `error: ${missing}\n` });
    const below = await newProject('below', roleWith('', `  - ${rule}\n`));
    expect(await run(below)).to.include({ code: 0, stderr: '' });
  });

  it('includes the rules of a Role bound in the operator’s namespace, but not those of a ClusterRole of the same name', async () => {
    const bound = (of: string, namespace: string): string =>
      roleWith('', `  - ${rule}\n`)
        .replace('kind: ClusterRole\nmetadata:', `kind: ${of}\nmetadata:`)
        .replace(
          'ClusterRoleBinding\nmetadata:',
          `RoleBinding\nmetadata:\n  namespace: ${namespace}`,
        )
        .replace('  kind: ClusterRole\n', '  kind: Role\n');
    for (const [name, of, namespace, wanted] of [
      ['own', 'Role', 'system', { code: 0, stderr: '' }],
      ['named', 'Role', 'default', { code: 0, stderr: '' }],
      ['elsewhere', 'Role', 'other', { code: 1, stderr: `error: ${missing}\n` }],
      ['of-cluster', 'ClusterRole', 'system', { code: 1, stderr: `error: ${missing}\n` }],
    ] as const) {
      const project = await newProject(name, bound(of, namespace));
      expect(await run(project), name).to.include(wanted);
    }
  });

  it('is read again when the sources change', async () => {
    const project = await newProject('reloaded');
    const cli = startCli(argsOf(project));
    running = cli;
    await eventually(() => expect(cli.written().stdout).to.include(`! ${missing}\n`));
    expect(cli.written().stdout).not.to.include('status.image');
    await replaceFile(join(project, 'src/operator.ts'), operatorThatLists(entry));
    await eventually(() =>
      expect(cli.written().stdout).to.include('~ Shop default/a  status.image:'),
    );
    expect(cli.written().stdout.split(missing)).to.have.length(2);
  });
});
