import { expect } from 'chai';
import { copyFile, readFile, writeFile } from 'node:fs/promises';
import { clientFromKubeConfig } from '../../lib/client/index.js';
import type { ConnectedClient } from '../../lib/client/index.js';
import { styles } from '../../lib/cli/scaffold/scaffold-command.js';
import { isApiError } from '../../lib/object/api-error.js';
import type { Deployment } from '../../lib/object/kinds.js';
import { Event } from '../../lib/object/kinds.js';
import type { Condition } from '../../lib/object/conditions.js';
import type { KubernetesObject, UnstructuredObject } from '../../lib/object/kubernetes-object.js';
import { systemRandom } from '../../lib/system/random.js';
import { cli, scratchDirectory } from '../cli/cli.js';
import { linkPackages } from '../cli/project/project-copy.js';
import { createApi, createWebhook } from '../cli/scaffold/project.js';
import type { ControlPlane } from './control-plane/control-plane.js';
import { eventually } from './control-plane/eventually.js';
import { findFreePort } from './control-plane/free-ports.js';
import { sharedControlPlane } from './control-plane/shared.js';
import { Kubectl } from './kubectl.js';
import { leadWebhooksTo, ProjectOperator } from './project-operator.js';

/** A Deployment that belongs to no project. */
function foreignDeployment(namespace: string): Deployment {
  const labels = { app: 'foreign' };
  const containers = [{ name: 'app', image: 'registry.example/foreign:1' }];
  return {
    ...{ apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'shop-taken', namespace } },
    spec: {
      replicas: 0,
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers } },
    },
  };
}

/** An object with conditions. */
interface Reporting extends KubernetesObject {
  readonly status?: { readonly conditions?: readonly Condition[] };
}

const flags = ['--defaulting', '--validation', '--conversion'];

for (const style of styles) {
  describe(`an operator built from a generated project in style ${style}, with every webhook, on a real API server`, () => {
    const file = scratchDirectory();
    const name = `hooked-${systemRandom.uuid().slice(0, 6)}`;
    const group = `shop.${name}.example`;
    const createdBy = `${group}/created-by`;
    const key = { name: 'a', namespace: `${name}-system` };
    const [v1alpha1, v1] = ['v1alpha1', 'v1'].map((version) => ({
      ...{ apiVersion: `${group}/${version}`, kind: 'Shop' },
    })) as [Type, Type];
    // A name that the operator reports as refused. The lifecycle would adopt an existing Service, so its name has a
    // dot, which names of Services can't have.
    const refusedName = style === 'lifecycle' ? 'with.dot' : 'taken';
    const config = (...names: string[]): string => file(name, 'config', ...names);
    let plane: ControlPlane;
    let admin: ConnectedClient;
    let jane: ConnectedClient;
    let kubectl: Kubectl;
    let operator: ProjectOperator | undefined;

    before(async () => {
      plane = await sharedControlPlane();
      admin = await clientFromKubeConfig({ path: plane.kubeConfigPath });
      jane = await clientFromKubeConfig({ path: (await plane.user('jane')).kubeConfigPath });
      kubectl = await Kubectl.create((path) => copyFile(plane.kubeConfigPath, path));
      await makeProject();
      await kubectl.print(['apply', '-k', config('default')]);
      await kubectl.print(['wait', '--for=condition=Established', `crd/shops.${group}`]);
      await admin.create(foreignDeployment(key.namespace));
      const port = await findFreePort();
      await leadWebhooksTo(port, { admin, name, crd: `shops.${group}` });
      const options = [`--webhook-port=${port}`];
      operator = await ProjectOperator.start({ folder: file(name), name, plane, admin, options });
    });

    after(async () => {
      await operator?.stop();
      // Objects without a conversion webhook would block the deletion of every namespace.
      const conversion = JSON.stringify({
        spec: { conversion: { strategy: 'None', webhook: null } },
      });
      await kubectl.run(['patch', 'crd', `shops.${group}`, '--type=merge', '-p', conversion]);
      await kubectl.run(['delete', '-k', config('default'), '--wait=false']);
      // The operator has stopped, so it no longer removes its finalizers.
      const bare = ['--type=merge', '-p', '{"metadata":{"finalizers":null}}'];
      for (const one of [key.name, refusedName]) {
        await kubectl.run(['patch', `shops.${group}`, one, '-n', key.namespace, ...bare]);
      }
      await kubectl.run(['wait', '--for=delete', `crd/shops.${group}`]);
      await kubectl.close();
      await Promise.all([admin.close(), jane.close()]);
    });

    interface Type {
      readonly apiVersion: string;
      readonly kind: string;
    }

    /** Renames a field between v1 and v1alpha1, the storage version. */
    async function makeProject(): Promise<void> {
      await cli(['init', '--domain', `${name}.example`, '--name', name, '-C', file(name)]);
      await createApi(file(name), 'Shop', 'v1alpha1', '--style', style);
      await createApi(file(name), 'Shop', 'v1');
      for (const [version, ...wanted] of [
        ['v1alpha1', ...flags],
        ['v1', '--defaulting', '--validation'],
      ] as const) {
        const made = await createWebhook(file(name), 'Shop', version, ...wanted);
        expect(made).to.include({ code: 0, stderr: '' });
      }
      await edit('src/api/v1/shop.ts', (text) => text.replace('image:', 'picture:'));
      const change = (from: string, to: string): string =>
        `({ spec: { ${from}, ...rest }, ...object }) => ({ ...object, spec: { ...rest, ${to}: ${from} } }),`;
      await edit('src/api/v1alpha1/shop.ts', (text) =>
        text
          .replace(/(toHub: ).*/, `$1${change('picture', 'image')}`)
          .replace(/(fromHub: ).*/, `$1${change('image', 'picture')}`),
      );
      linkPackages(file(name));
      const { code, stderr } = await cli(['manifests', '--project', file(name)]);
      expect({ code, stderr }).to.deep.equal({ code: 0, stderr: '' });
    }

    async function edit(path: string, change: (text: string) => string): Promise<void> {
      const text = await readFile(file(name, path), 'utf8');
      const changed = change(text);
      expect(changed).not.to.equal(text);
      await writeFile(file(name, path), changed);
    }

    function newShop(spec: object, type = v1alpha1): UnstructuredObject {
      return { ...type, metadata: key, spec };
    }

    it('has overlays that kustomize can build, without and with options', async () => {
      for (const [overlay, has] of [
        ['webhook', 'publishNotReadyAddresses: true'],
        ['network-policy', 'port: webhook'],
        ['certmanager', 'kind: Certificate'],
      ] as const) {
        expect(await kubectl.print(['kustomize', config(overlay)]), overlay).to.include(has);
      }
      const path = config('default/kustomization.yaml');
      const text = await readFile(path, 'utf8');
      try {
        await writeFile(path, text.replace('components:\n', 'components:\n  - ../certmanager\n'));
        const built = await kubectl.print(['kustomize', config('default')]);
        const injected = `cert-manager.io/inject-ca-from: ${name}-system/${name}-serving-cert`;
        // Both webhook configurations and the CRD have the annotation.
        expect(built.split(injected)).to.have.length(4);
        expect(built).to.include('- --webhook-cert-dir=/certificates\n');
        expect(built).to.include(`- ${name}-webhook-service.${name}-system.svc\n`);
      } finally {
        await writeFile(path, text);
      }
    });

    it('sets defaults of an object as soon as the operator has its certificate and the server trusts it', async () => {
      const made = await eventually(async () => {
        operator?.check();
        return jane.create(newShop({ image: 'shop:1', replicas: 1 }));
      }, 60_000);
      expect(made.metadata.annotations).to.deep.include({ [createdBy]: 'jane' });
    });

    it('rejects an invalid change, and says why', async () => {
      const body = { metadata: { annotations: { [createdBy]: 'joe' } } };
      const error: unknown = await jane
        .patch(v1alpha1, key, { type: 'merge', body })
        .catch((thrown: unknown) => thrown);
      if (!isApiError(error)) throw new Error(`it was not refused: ${String(error)}`);
      expect(error.status).to.equal(422);
      // Each version has its own webhook.
      const reason = `denied the request: the annotation ${createdBy} can't be changed`;
      expect(error.message).to.include(`admission webhook "vshop.${group}" ${reason}`);
    });

    it('converts objects to the other version and back', async () => {
      const read = await jane.get<UnstructuredObject>(v1, key);
      expect(read['spec']).to.deep.equal({ picture: 'shop:1', replicas: 1 });
      const body = { spec: { picture: 'shop:2' } };
      await jane.patch(v1, key, { type: 'merge', body });
      const { spec } = await jane.get<UnstructuredObject>(v1alpha1, key);
      expect(spec).to.deep.equal({ image: 'shop:2', replicas: 1 });
    });

    it('reports a rejected object by a condition and a Warning event', async () => {
      const refused = { ...key, name: refusedName };
      await jane.create({ ...newShop({ image: 'shop:1' }), metadata: refused });
      await eventually(async () => {
        operator?.check();
        const { status } = await jane.get<Reporting>(v1alpha1, refused);
        const type = style === 'lifecycle' ? 'Degraded' : 'Ready';
        const found = status?.conditions?.find((one) => one.type === type);
        expect(found?.status).to.equal(style === 'lifecycle' ? 'True' : 'False');
        expect(found?.message).to.include(refusedName);
        const { items } = await admin.list(Event, { namespace: key.namespace });
        const warnings = items.filter(({ type: one }) => one === 'Warning');
        expect(warnings.map(({ regarding }) => regarding?.name)).to.include(refused.name);
      }, 60_000);
    });

    it("needs no permissions beyond the project's roles", async () => {
      expect(await operator?.stop(), operator?.output).to.equal(0);
      expect(operator?.output).to.include('webhooks listens');
      expect(operator?.output).not.to.include('permissions are missing');
      const requests = await plane.auditLog.read({ user: operator?.user ?? '' });
      const refused = requests.filter(({ code }) => code === 403);
      expect(refused.map(({ verb, uri }) => `${verb} ${uri}`)).to.deep.equal([]);
      const patched = requests.filter(({ verb, code }) => verb === 'patch' && code === 200);
      expect(patched.map(({ resource }) => resource)).to.include.members([
        ...['mutatingwebhookconfigurations', 'validatingwebhookconfigurations'],
        'customresourcedefinitions',
      ]);
    });
  });
}
