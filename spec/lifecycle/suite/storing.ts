import { expect } from 'chai';
import omit from 'lodash/omit.js';
import { ensureCrd } from '../../../lib/client/index.js';
import { defineResource, s } from '../../../lib/crd/index.js';
import { createCrd } from '../../../lib/lifecycle/index.js';
import type { CustomResourceDefinition } from '../../../lib/object/kinds.js';
import type { TypeReference } from '../../../lib/object/resource-type.js';
import type { Config, OpenStage, Stage } from './stage.js';
import { group } from './stage.js';
import { configMap } from './system.js';

type Version = CustomResourceDefinition['spec']['versions'][number];

/** Declares what is reported about a kind whose CRD cannot store the status of a lifecycle. */
export function storingSuite(open: OpenStage): void {
  const definitions: Record<string, readonly [string, (version: Version) => Version, RegExp]> = {
    'no subresource status': [
      'LocalPlain',
      (version) => omit(version, 'subresources'),
      /LocalPlain .*the server has no subresource status for the kind; add it to the CRD/,
    ],
    'no schema of a status': [
      'LocalPruned',
      (version) => withStatusSchema(version, undefined),
      /LocalPruned .*does not store .*phase.*; add .*lifecycleStatusProperties/,
    ],
  };
  for (const [what, [kind, changed, message]] of Object.entries(definitions)) {
    it(`the reconciler tells what to add to the CRD if it has ${what}`, async () => {
      const stage = await openKind(open, kind, changed);
      const { error, events } = await stage.pass('1.0.0');
      expect(error).to.match(message);
      expect(events).to.include('ReconcileFailed');
    });

    it(`the reconciler deletes the configuration and its objects although the CRD has ${what}`, async () => {
      const stage = await openKind(open, kind, changed);
      await stage.pass('1.0.0');
      expect((await stage.config()).metadata.finalizers).to.have.length(1);
      await stage.delete();
      await stage.target.eventually(async () => {
        await stage.pass('1.0.0');
        expect(await stage.exists()).to.equal(false);
      });
      expect(await stage.isGone('ConfigMap', 'settings')).to.equal(true);
    });
  }

  it('the reconciler deletes the configuration and its objects although its CRD defines no status', async () => {
    const stage = await open({ type: Bare as TypeReference<Config>, config: null });
    await ensureCrd(stage.admin, Bare.crd, { clock: stage.target.clock });
    stage.resources = () => [configMap(stage.namespace)];
    await stage.create();
    const { error, events } = await stage.pass('1.0.0');
    expect(error).to.include('status.phase: not in the schema');
    expect(events).to.include('ReconcileFailed');
    await stage.delete();
    await stage.target.eventually(async () => {
      await stage.pass('1.0.0');
      expect(await stage.exists()).to.equal(false);
    });
    expect(await stage.isGone('ConfigMap', 'settings')).to.equal(true);
  });

  it("the reconciler keeps fields of the status that the operator's own code has set, even if they are null", async () => {
    const stage = await openKind(open, 'LocalNullable', (version) => {
      const status = version.schema?.openAPIV3Schema?.properties?.['status'];
      const lastError = { type: 'string', nullable: true };
      const properties = { ...status?.properties, lastError };
      return withStatusSchema(version, { ...status, properties });
    });
    // A merge patch would remove the field instead of setting it to null.
    const config = { ...(await stage.config()), status: { lastError: null } as object };
    await stage.admin.update(config, { subresource: 'status' });
    const { error, events } = await stage.pass('1.0.0');
    expect(error).to.equal(undefined);
    expect(events).to.deep.equal(['DeployStarted', 'CreateResourceSuccess ConfigMap settings']);
    await stage.deploy('1.0.0');
    expect(await stage.status()).to.have.property('lastError', null);
  });

  it('the reconciler does not write the status again if the schema adds a default to each condition', async () => {
    const stage = await openKind(open, 'LocalDefaulted', (version) => {
      const status = version.schema?.openAPIV3Schema?.properties?.['status'] ?? {};
      const { conditions, ...others } = status.properties ?? {};
      const severity = { type: 'string', default: 'Info' };
      const items = conditions?.items as { readonly properties: object };
      const changed = { ...items, properties: { ...items.properties, severity } };
      const properties = { ...others, conditions: { ...conditions, items: changed } };
      return withStatusSchema(version, { ...status, properties });
    });
    await stage.deploy('1.0.0');
    expect(await stage.status()).to.have.nested.property('conditions[0].severity', 'Info');
    await stage.wait(2_000);
    await stage.pass('1.0.0');
    expect(await stage.writes()).to.deep.equal([]);
  });

  it('the reconciler does not write the status again if withStatus leaves out fields of the lifecycle', async () => {
    const stage = await open();
    stage.resources = () => [configMap(stage.namespace)];
    const reconciler = stage.newReconciler({
      crManager: {
        type: stage.type,
        getAllResources: () => [configMap(stage.namespace)],
        getDependantResourceTypes: () => [],
        withStatus: (config, status) => ({ ...config, status: omit(status, 'targetVersion') }),
      },
    });
    await stage.target.eventually(async () => {
      expect((await stage.pass('1.0.0', reconciler)).phase).to.equal('Deployed');
    });
    await stage.writes();
    await stage.wait(2_000);
    await stage.pass('1.0.0', reconciler);
    expect(await stage.writes()).to.deep.equal([]);
  });

  it('the reconciler deploys although withStatus leaves out fields of the lifecycle', async () => {
    const stage = await open();
    const reconciler = stage.newReconciler({
      crManager: {
        type: stage.type,
        getAllResources: () => [configMap(stage.namespace)],
        getDependantResourceTypes: () => [],
        status: ({ status }) => status,
        withStatus: (config, status) => ({ ...config, status: omit(status, 'targetVersion') }),
      },
    });
    const { error } = await stage.pass('1.0.0', reconciler);
    expect(error).to.equal(undefined);
    expect(await stage.status()).to.have.property('operatorVersion', '1.0.0');
  });
}

/** A kind of `defineResource`, which checks a status before it is sent. */
const Bare = defineResource({
  ...{ group, kind: 'LocalBare' },
  versions: [{ name: 'v1alpha1', schema: s.object({ spec: s.unknownObject() }) }],
});

/** Opens a stage with a configuration of a new kind. */
async function openKind(
  open: OpenStage,
  kind: string,
  changed: (version: Version) => Version,
): Promise<Stage> {
  const type = { apiVersion: `${group}/v1alpha1`, kind };
  const stage = await open({ type, config: null });
  const crd = createCrd({ group, kind }, { scope: 'Namespaced' });
  const spec = { ...crd.spec, versions: crd.spec.versions.map(changed) };
  await ensureCrd(stage.admin, { ...crd, spec }, { clock: stage.target.clock });
  stage.resources = () => [configMap(stage.namespace)];
  await stage.create();
  return stage;
}

function withStatusSchema(version: Version, status: object | undefined): Version {
  const properties = { spec: { type: 'object' }, ...(status !== undefined && { status }) };
  return { ...version, schema: { openAPIV3Schema: { type: 'object', properties } } };
}
