import { expect } from 'chai';
import { ensureCrd } from '../../../lib/client/index.js';
import { lifecycle } from '../../../lib/lifecycle/index.js';
import type { LifecycleObject } from '../../../lib/lifecycle/index.js';
import { isNotFound } from '../../../lib/object/api-error.js';
import { ConfigMap, Secret } from '../../../lib/object/kinds.js';
import type { ResourceType } from '../../../lib/object/resource-type.js';
import { objectsResource, resourceChain } from '../../../lib/resource/index.js';
import { VirtualClock } from '../../../lib/system/virtual-clock.js';
import type { BuilderTarget, NewTarget } from '../../builder/suite/target.js';
import { Stage, System, Tenant } from './stage.js';

type System = LifecycleObject & { spec: { mode: string } };

/** Specs about the other styles in an Operator, on the embedded and the real server. */
export function operatorStylesSuite(newTarget: NewTarget): void {
  let target: BuilderTarget;
  let stage: Stage;

  before(async () => {
    target = await newTarget();
    const { clock } = target;
    await ensureCrd(target.admin, System.crd, clock instanceof VirtualClock ? {} : { clock });
  });

  beforeEach(async () => {
    stage = await Stage.open(target);
  });

  afterEach(() => stage.stop());

  after(() => target.close());

  it('an operator reconciles a resource chain, and deletes its objects with the owner', async () => {
    const env = objectsResource({
      name: 'env',
      types: [ConfigMap],
      getDesiredState: (_context, { metadata, spec }: Tenant) => [
        {
          ...({ apiVersion: 'v1', kind: 'ConfigMap' } as const),
          metadata: { namespace: metadata.namespace ?? '', name: 'env' },
          data: spec.env,
        },
      ],
    });
    stage.operator
      .for(Tenant)
      .owns(ConfigMap)
      .uses(resourceChain([env]));
    stage.start();
    await stage.create('acme', { env: { A: '1' } });
    await stage.condition('acme', 'Ready', 'True');
    expect(await stage.names(ConfigMap)).to.deep.equal(['env']);
    await target.admin.delete(Tenant, stage.key('acme'));
    await target.eventually(async () => {
      expect(await stage.names(ConfigMap)).to.deep.equal([]);
      await stage.get('acme').then(
        () => expect.fail('the tenant is still there'),
        (error: unknown) => expect(isNotFound(error)).to.equal(true),
      );
    });
  });

  it('an operator reconciles a lifecycle, and prunes objects that a new release no longer contains', async () => {
    const type = System as unknown as ResourceType<System>;
    stage.operator
      .for(type, { name: 'system' })
      .owns(ConfigMap, Secret)
      .uses(
        lifecycle<System>({
          version: '1.0.0',
          resources: ({ metadata, spec }) => [
            {
              ...({ apiVersion: 'v1', kind: spec.mode } as const),
              metadata: { namespace: metadata.namespace ?? '', name: 'part' },
            },
          ],
        }),
      );
    stage.start();
    const metadata = stage.key('whole');
    const spec = { mode: 'ConfigMap' };
    await target.admin.create<System>({
      ...{ apiVersion: 'front.example/v1', kind: 'System', metadata, spec },
    });
    const phase = (wanted: string): Promise<void> =>
      target.eventually(async () => {
        const { status } = await target.admin.get(type, metadata);
        expect(status?.phase).to.equal(wanted);
      });
    await phase('Deployed');
    expect(await stage.names(ConfigMap)).to.deep.equal(['part']);
    const body = { spec: { mode: 'Secret' } };
    await target.admin.patch(type, metadata, { type: 'merge', body });
    await target.eventually(async () => {
      expect(await stage.names(ConfigMap)).to.deep.equal([]);
      expect(await stage.names(Secret)).to.deep.equal(['part']);
    });
    await target.admin.delete(type, metadata);
    await target.eventually(async () => expect(await stage.names(Secret)).to.deep.equal([]));
  });
}
