import { expect } from 'chai';
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { copyFile, mkdir } from 'node:fs/promises';
import { basename } from 'node:path';
import { promisify } from 'node:util';
import { changeFile } from '../../scripts/docs/walk/change-file.js';
import { environmentIn, packPackage } from '../../scripts/docs/walk/installed-package.js';
import { Terminal } from '../../scripts/docs/walk/terminal.js';
import { clientFromKubeConfig } from '../../lib/client/index.js';
import type { ConnectedClient } from '../../lib/client/index.js';
import { scratchDirectory } from '../cli/cli.js';
import type { ControlPlane } from './control-plane/control-plane.js';
import { eventually } from './control-plane/eventually.js';
import { findFreePort } from './control-plane/free-ports.js';
import { sharedControlPlane } from './control-plane/shared.js';
import { leadWebhooksTo, ProjectOperator } from './project-operator.js';

const name = 'bookshop-operator';
const crd = 'bookshops.shop.newcomer.example';
const api = '--group shop --kind Bookshop';

/** A named port of the pods, and a Service in front of it. */
const newField = `
     1,
   ),
+  portName: s.defaulted(s.string({ description: 'The name of the port of the pods.' }), 'http'),
 });
`;
const newService = `
-import { Deployment, labelValueOf, type Operator } from 'operator-builder';
+import { Deployment, Service, labelValueOf, type Operator } from 'operator-builder';
@@
-    .owns(Deployment)
+    .owns(Deployment, Service)
@@
-      const { image, replicas } = object.spec;
-      const podSpec = { containers: [{ name: 'app', image }] };
-      return builder.deployment({ name, replicas, podSpec });
+      const { image, replicas, portName } = object.spec;
+      const ports = [{ name: portName, containerPort: 8080 }];
+      return builder
+        .deployment({ name, replicas, podSpec: { containers: [{ name: 'app', image, ports }] } })
+        .service({ name, spec: { ports: [{ port: 80, targetPort: portName }] } });
`;
const renamedField = `
-  replicas: s.defaulted(
+  size: s.defaulted(
`;
const conversion = `
-        toHub: (object) => ({ ...object }),
-        fromHub: (object) => ({ ...object }),
+        toHub: ({ spec: { size: replicas, ...spec }, ...object }) => ({
+          ...object,
+          spec: { ...spec, replicas },
+        }),
+        fromHub: ({ spec: { replicas: size, ...spec }, ...object }) => ({
+          ...object,
+          spec: { ...spec, size },
+        }),
`;
const validation = `
   validatingWebhook(Bookshop, ({ object, oldObject }) => {
+    if (object?.spec.image.endsWith(':latest') === true) {
+      return denied('the image has no version: give spec.image another tag than latest');
+    }
`;

describe('the steps of a new user, with the package from npm pack and a real API server', () => {
  const file = scratchDirectory();
  let plane: ControlPlane;
  let admin: ConnectedClient;
  let terminal: Terminal;
  let port = 0;
  let operator: ProjectOperator | undefined;

  before(async function () {
    this.timeout(300_000);
    plane = await sharedControlPlane();
    admin = await clientFromKubeConfig({ path: plane.kubeConfigPath });
    port = await findFreePort();
    if (!existsSync('dist/cli/main.js')) await promisify(execFile)('npm', ['run', 'build']);
    const folder = file('work');
    await mkdir(folder);
    const tarball = basename(await packPackage(folder));
    const kubeConfig = file('kubeconfig');
    await copyFile(plane.kubeConfigPath, kubeConfig);
    const own = { KUBECONFIG: kubeConfig, KUBECACHEDIR: file('cache') };
    terminal = new Terminal({ folder, env: { ...environmentIn(file()), ...own } });
    await type(`npm install --global ./${tarball}`);
    await type(`mkdir ${name} && cd ${name}
      operator-builder init --domain newcomer.example --package ../${tarball}
      npm install`);
  });

  after(async function () {
    this.timeout(60_000);
    await terminal.close();
    await operator?.stop();
    // Objects without a conversion webhook would block the deletion of the definition.
    const none = '{"spec":{"conversion":{"strategy":"None","webhook":null}}}';
    await terminal.run(`kubectl patch crd ${crd} --type=merge -p '${none}' || true
      kubectl delete --ignore-not-found --wait=false -k config/default`);
    await terminal.run(`kubectl wait --for=delete crd/${crd} --timeout=30s`);
    await admin.close();
  });

  /** Types commands and returns their output. */
  async function type(script: string): Promise<string> {
    const { code, output } = await terminal.run(script);
    expect(code, `${script}\n${output}`).to.equal(0);
    return output;
  }

  /** Types commands that must fail and returns their output. */
  async function typeRefused(script: string): Promise<string> {
    const { code, output } = await terminal.run(script);
    expect(code, `${script}\n${output}`).to.not.equal(0);
    return output;
  }

  function edit(path: string, diff: string): Promise<void> {
    const text = diff.slice(1);
    return changeFile({ type: 'edit', line: 0, path, diff: text }, terminal.folder);
  }

  /** Repeats a command until it prints all `texts`. */
  function shows(script: string, ...texts: readonly (string | RegExp)[]): Promise<string> {
    return eventually(async () => {
      operator?.check();
      const output = await type(script);
      for (const text of texts) {
        const isThere = typeof text === 'string' ? output.includes(text) : text.test(output);
        if (!isThere) throw new Error(`${script}: ${String(text)} is not in:\n${output}`);
      }
      return output;
    }, 60_000);
  }

  /** Deploys the project; a process of this machine serves its webhooks. */
  async function deploy(): Promise<void> {
    const applied = await type('npm run deploy');
    expect(applied).to.not.match(/warning/i);
    await leadWebhooksTo(port, { admin, name, crd });
  }

  it('create a kind and a controller that creates a Service for a new field, and run them on the embedded API server', async () => {
    await type(`operator-builder create api ${api} --version v1alpha1`);
    await edit('src/api/v1alpha1/bookshop.ts', newField);
    await edit('src/controllers/bookshop-controller.ts', newService);
    const stale = await typeRefused('npx operator-builder manifests --check');
    expect(stale).to.include('run npx operator-builder manifests');
    const changed = await type('npx operator-builder manifests');
    expect(changed).to.include(`config/rbac/role.yaml`);
    await terminal.start('npx operator-builder run --embedded', (text) =>
      /^~ Bookshop default\/bookshop-sample {2}.*Ready=True/m.test(text),
    );
    const { output } = await terminal.stop();
    expect(output).to.include('+ Service default/bookshop-bookshop-sample\n');
    expect(output).to.include('+ Deployment default/bookshop-bookshop-sample\n');
  });

  it('add a version with a renamed field, a conversion and a validation, tested by npm test', async () => {
    await type(`npm run crds:install
      kubectl wait --for=condition=Established crd/${crd}`);
    await shows('kubectl apply -f config/samples/shop_v1alpha1_bookshop.yaml', 'bookshop-sample');
    await type(`operator-builder create api ${api} --version v1`);
    await type(
      `operator-builder create webhook ${api} --version v1alpha1 --conversion --validation`,
    );
    await edit('src/api/v1/bookshop.ts', renamedField);
    await edit('src/api/v1alpha1/bookshop.ts', conversion);
    await edit('src/webhooks/v1alpha1/bookshop-webhook.ts', validation);
    await edit('config/samples/shop_v1_bookshop.yaml', '\n-  replicas: 2\n+  size: 2\n');
    await type(`npx operator-builder manifests
      npm test`);
  });

  it('deploy the operator, which serves earlier objects in the new version', async () => {
    await type('npm run build');
    await deploy();
    const options = [`--webhook-port=${port}`];
    const project = { folder: terminal.folder, name, plane, admin, options };
    operator = await ProjectOperator.start(project);
    await shows('kubectl get bookshops', /^bookshop-sample +\S+ +True /m);
    await shows('kubectl apply -k config/samples', 'bookshop-sample-v1');
    await type('kubectl wait --for=condition=Ready --timeout=60s bookshop/bookshop-sample-v1');
    const size = `kubectl get bookshops.v1.shop.newcomer.example bookshop-sample -o yaml`;
    expect(await type(size)).to.match(/^ {2}size: 2$/m);
  });

  it('get the message of the validation for an invalid object', async () => {
    const patch = '{"spec":{"image":"registry.example/books:latest"}}';
    const refused = await typeRefused(
      `kubectl patch bookshop bookshop-sample --type=merge -p '${patch}'`,
    );
    expect(refused).to.include(
      'denied the request: the image has no version: give spec.image another tag than latest',
    );
  });

  it('show in kubectl describe why the API server rejects a dependent object, until the resource is corrected', async () => {
    const rename = (to: string): Promise<string> =>
      type(
        `kubectl patch bookshop bookshop-sample --type=merge -p '{"spec":{"portName":"${to}"}}'`,
      );
    await rename('Web Port');
    const problem = 'ports\\[0\\].name: Invalid value: "Web Port": must contain only .*';
    const child = 'Deployment default/bookshop-bookshop-sample: 422';
    await shows(
      'kubectl describe bookshop bookshop-sample',
      new RegExp(
        `Message: .*apply ${child} .*${problem}\n.*\n +Reason: +Invalid\n +Status: +False\n +Type: +Ready`,
      ),
      new RegExp(`Warning +ApplyFailed +.* ${name} +Apply ${child} .*${problem}`),
    );
    await rename('web');
    await shows('kubectl get bookshops', /^bookshop-sample +\S+ +True /m);
  });

  it('show in kubectl describe which rule the role lacks, until the role is deployed again', async () => {
    const role = `${name}-manager-role`;
    const rules = await type(`kubectl get clusterrole ${role} -o jsonpath='{.rules[*].resources}'`);
    const at = rules.split('] [').findIndex((text) => text.includes('"services"'));
    const remove = `[{"op":"remove","path":"/rules/${at}"}]`;
    await type(`kubectl patch clusterrole ${role} --type=json -p '${remove}'`);
    const account = `system:serviceaccount:${name}-system:${name}-controller-manager`;
    await shows(`kubectl auth can-i patch services --as=${account} || true`, /^no\b/m);
    await type(
      `kubectl patch bookshop bookshop-sample --type=merge -p '{"spec":{"portName":"books"}}'`,
    );
    await shows(
      'kubectl describe bookshop bookshop-sample',
      /Message: +apply Service .*: 403 Forbidden: .* cannot patch resource "services" in API group "" .*\(check the RBAC rules of this operator\)\n.*\n +Reason: +Forbidden\n +Status: +False\n +Type: +Ready/,
    );
    await deploy();
    await shows('kubectl get bookshops', /^bookshop-sample +\S+ +True /m);
    expect(await operator?.stop(), operator?.output).to.equal(0);
  });
});
