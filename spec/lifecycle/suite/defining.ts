import { expect } from 'chai';
import { ensureCrd } from '../../../lib/client/index.js';
import { createCrd, openApi } from '../../../lib/lifecycle/index.js';
import type { CustomResourceDefinition } from '../../../lib/object/kinds.js';
import { systemRandom } from '../../../lib/system/random.js';
import type { OpenStage } from './stage.js';

const group = 'defined.example.com';

/** Declares how the server treats `openApi.lifecycleStatus` and `createCrd`. */
export function definingSuite(open: OpenStage): void {
  it('createCrd limits the names of objects by the pattern of its options', async () => {
    const { admin, target } = await open({ config: null });
    const kind = `Only${systemRandom.uuid().slice(0, 8)}`;
    const crd = createCrd({ group, kind }, { nameRegex: '^cluster-[a-z]+$' });
    await ensureCrd(admin, crd, { clock: target.clock });
    const make = (name: string) =>
      admin.create({ apiVersion: `${group}/v1alpha1`, kind, metadata: { name }, spec: { any: 1 } });
    expect((await make('cluster-one'))['spec' as never]).to.deep.equal({ any: 1 });
    const refused = await make('other').catch((error: unknown) => error);
    expect(refused)
      .to.be.instanceOf(Error)
      .with.property('message')
      .that.matches(/metadata\.name/);
  });

  it('the status schema requires type and status of a condition, and accepts all phases', async () => {
    const stage = await open();
    const set = (status: object) => stage.setStatus(status).then(String, String);
    const required = await set({ conditions: [{ type: 'Available' }] });
    expect(required).to.match(/status\.conditions\[0\]\.status: Required/);
    expect(await set({ conditions: [{ status: 'True' }] })).to.match(/type: Required/);
    expect(await set({ phase: 'Gone' })).to.match(/phase: Unsupported value/);
    expect(await set({ phase: 'Error' })).to.equal('undefined');
    expect(await set({ phase: '' })).to.equal('undefined');
  });

  it('openApi.lifecycleStatus is a status schema for CRDs that are written by hand', async () => {
    const { admin, target } = await open({ config: null });
    const kind = `Hand${systemRandom.uuid().slice(0, 8)}`;
    const [singular, plural] = [kind.toLowerCase(), `${kind.toLowerCase()}s`];
    const status = openApi.lifecycleStatus(kind);
    const openAPIV3Schema = { type: 'object', properties: { status } } as never;
    const version = { name: 'v1', served: true, storage: true, schema: { openAPIV3Schema } };
    const crd: CustomResourceDefinition = {
      ...{ apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition' },
      metadata: { name: `${plural}.${group}` },
      spec: {
        ...{ group, scope: 'Cluster', names: { kind, plural, singular } },
        versions: [{ ...version, subresources: { status: {} } }],
      },
    };
    await ensureCrd(admin, crd, { clock: target.clock });
    expect(status.description).to.include(kind);
  });
}
