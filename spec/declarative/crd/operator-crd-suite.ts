import { expect } from 'chai';
import { ensureCrd, getIfExists } from '../../../lib/client/index.js';
import { OperatorResource, cleanUpAnnotation } from '../../../lib/declarative/crd/index.js';
import type { OperatorDocument } from '../../../lib/declarative/crd/index.js';
import { findCondition } from '../../../lib/object/conditions.js';
import type { BuilderTarget, NewTarget } from '../../builder/suite/target.js';
import { GroupScene, configMapOf, viewOf } from '../operator/group-scene.js';

const whole = {
  'price-a': { value: 'a' },
  'price-b': { value: 'b' },
};

/** Specs of the controller for `Operator` objects, for any server. */
export function operatorCrdSuite(newTarget: NewTarget): void {
  let target: BuilderTarget;
  let scene: GroupScene;
  before(async () => {
    target = await newTarget();
    await ensureCrd(target.admin, OperatorResource.crd, { clock: target.clock });
  });
  beforeEach(async () => {
    scene = await GroupScene.begin(target);
    for (const name of ['a', 'b']) await scene.put('Price', name, name);
  });
  afterEach(async () => {
    await scene.end();
    const { items } = await target.admin.list(OperatorResource);
    for (const { metadata } of items) {
      const key = { name: metadata.name ?? '' };
      const patch = { type: 'merge', body: { metadata: { finalizers: null } } } as const;
      await target.admin.patch(OperatorResource, key, patch);
      await target.admin.delete(OperatorResource, key);
    }
  });
  after(() => target.close());

  const name = (): string => scene.name('shop');
  const prices = (
    options: Parameters<typeof configMapOf>[2] = {},
  ): OperatorDocument['controllers'] => [
    viewOf('Price', scene.namespace),
    configMapOf('Price', 'price', options),
  ];
  /** Creates or changes the Operator object. */
  const put = async (
    controllers: OperatorDocument['controllers'],
    annotations: Record<string, string> = {},
  ): Promise<void> => {
    const object = OperatorResource.object({
      metadata: { name: name(), annotations },
      spec: { controllers },
    });
    await target.admin.apply(object, { fieldManager: 'somebody', force: true });
  };
  const read = (): Promise<OperatorResource | undefined> =>
    getIfExists(target.admin, OperatorResource, { name: name() });
  const remove = (): Promise<unknown> => target.admin.delete(OperatorResource, { name: name() });
  const ready = async (): Promise<string> => {
    const { status } = (await read()) ?? {};
    const condition = findCondition(status?.conditions, 'Ready');
    return `${condition?.status} ${condition?.reason} of ${status?.observedGeneration}`;
  };
  const eventuallyReady = (expected: string): Promise<void> =>
    scene.eventually(async () => {
      expect(await ready()).to.equal(expected);
    });
  const eventuallyMade = (expected: object): Promise<void> =>
    scene.eventually(async () => {
      expect(await scene.made()).to.deep.equal(expected);
    });
  const eventuallyGone = (): Promise<void> =>
    scene.eventually(async () => {
      expect(await read()).to.equal(undefined);
      expect(scene.group.getOperator(name())).to.equal(undefined);
    });
  /** Stops the process and starts another one. */
  const restart = async (): Promise<void> => {
    await scene.end();
    scene = await GroupScene.begin(target, scene.namespace);
  };
  const policy = { [cleanUpAnnotation]: 'delete' };

  it('a group of operators runs the operator of an Operator object, and writes the status of the object once', async () => {
    scene.runObjects();
    await put(prices());
    await eventuallyMade(whole);
    await eventuallyReady('True Ready of 1');
    const { status, metadata } = (await read()) ?? {};
    expect(status?.controllers.map(({ name, lastErrors }) => ({ name, lastErrors }))).to.deep.equal(
      [
        { name: 'see-price', lastErrors: [] },
        { name: 'make-price', lastErrors: [] },
      ],
    );
    expect(status?.controllers[1]?.conditions?.[0]).to.include({
      ...{ type: 'Ready', status: 'True', reason: 'Ready', observedGeneration: 1 },
    });
    expect(metadata?.finalizers).to.equal(undefined);
    expect((await scene.writes()).toSorted()).to.deep.equal([
      ...['patch configmaps price-a', 'patch configmaps price-b'],
      `patch operators ${name()}`,
    ]);
    expect(scene.failures).to.deep.equal([]);
  });

  it('a group of operators replaces changed controllers of an Operator object, and sets observedGeneration', async () => {
    scene.runObjects();
    await put(prices());
    await eventuallyMade(whole);
    await eventuallyReady('True Ready of 1');
    const [first] = scene.group.getOperator(name())?.listControllers() ?? [];
    await put(prices({ data: { value: '$.data.value', more: 'yes' } }));
    await eventuallyMade({
      'price-a': { value: 'a', more: 'yes' },
      'price-b': { value: 'b', more: 'yes' },
    });
    await eventuallyReady('True Ready of 2');
    expect(scene.group.getOperator(name())?.listControllers()[0]).to.equal(first);
  });

  it('a group of operators removes the operator of a deleted Operator object, and keeps the objects that the operator wrote', async () => {
    scene.runObjects();
    await put(prices());
    await eventuallyMade(whole);
    await remove();
    await eventuallyGone();
    expect(scene.manager.views.types(name())).to.deep.equal([]);
    expect(await scene.made()).to.deep.equal(whole);
  });

  it('a group of operators deletes the objects that the operator of a deleted Operator object wrote if its clean-up policy is "delete"', async () => {
    scene.runObjects();
    await put(prices(), policy);
    await eventuallyMade(whole);
    await eventuallyReady('True Ready of 1');
    expect((await read())?.metadata.finalizers).to.deep.equal([cleanUpAnnotation]);
    await remove();
    await eventuallyGone();
    expect(await scene.made()).to.deep.equal({});
  });

  it('a group of operators removes the finalizer of an Operator object when the clean-up annotation is removed', async () => {
    scene.runObjects();
    await put(prices(), policy);
    await eventuallyMade(whole);
    await put(prices());
    await scene.eventually(async () => {
      expect((await read())?.metadata.finalizers).to.equal(undefined);
    });
    await remove();
    await eventuallyGone();
    expect(await scene.made()).to.deep.equal(whole);
  });

  it('a group of operators reports an invalid spec in the status of an Operator object, which becomes ready when the spec is corrected', async () => {
    const bad = { ...configMapOf('Price', 'price'), pipeline: { '@projekt': {} } };
    scene.runObjects();
    await put([viewOf('Price', scene.namespace), bad]);
    await eventuallyReady('False NotReady of 1');
    const [, told] = (await read())?.status?.controllers ?? [];
    expect(told?.conditions?.[0]?.message)
      .to.include('spec.controllers[1].pipeline["@projekt"]')
      .and.include('did you mean @project?');
    await put(prices());
    await eventuallyReady('True Ready of 2');
    await eventuallyMade(whole);
  });

  it('a group of operators reports data errors in the status of an Operator object until they are resolved', async () => {
    scene.runObjects();
    await put([viewOf('Price', scene.namespace, { number: { '@int': '$.data.value' } })]);
    await eventuallyReady('Unknown ReconciliationFailed of 1');
    await scene.eventually(async () => {
      const [told] = (await read())?.status?.controllers ?? [];
      expect(told?.lastErrors?.join('\n')).to.include('/a').and.include('/b');
    });
    await scene.put('Price', 'a', '1');
    await scene.put('Price', 'b', '2');
    await eventuallyReady('True Ready of 1');
  });

  it('a group of operators does not change an operator added by code with the same name as an Operator object', async () => {
    scene.runObjects();
    const operator = await scene.group.addOperator(name(), { controllers: prices() });
    await eventuallyMade(whole);
    await put([viewOf('Stock', scene.namespace)]);
    await eventuallyReady('False NotReady of 1');
    const { conditions } = (await read())?.status ?? {};
    expect(conditions?.[0]?.message).to.include('not from this object');
    await remove();
    await scene.eventually(async () => {
      expect(await read()).to.equal(undefined);
    });
    expect(scene.group.getOperator(name())).to.equal(operator);
  });

  it('a group of operators writes nothing for unchanged Operator objects after a restart', async () => {
    scene.runObjects();
    await put(prices(), policy);
    await eventuallyMade(whole);
    await eventuallyReady('True Ready of 1');
    await restart();
    await scene.writes();
    scene.runObjects();
    await scene.eventually(() => {
      expect(scene.group.getOperator(name())).to.not.equal(undefined);
    });
    const operator = scene.group.getOperator(name());
    if (operator === undefined) throw new Error('no operator');
    await scene.synced(operator);
    // This write comes after any write that the restart caused.
    await scene.put('Price', 'c', 'c');
    await eventuallyMade({ ...whole, 'price-c': { value: 'c' } });
    expect(await scene.writes()).to.deep.equal(['patch configmaps price-c']);
    expect(await ready()).to.equal('True Ready of 1');
  });

  it('a group of operators writes nothing after a restart when an operator reads views of an operator that is added later', async () => {
    const { namespace } = scene;
    const [maker, reader] = [scene.name('maker'), scene.name('a-reader')];
    const apiGroup = `${maker}.view.dcontroller.io`;
    const objects = [
      { name: reader, controllers: [configMapOf('Price', 'price', { apiGroup })] },
      { name: maker, controllers: [viewOf('Price', namespace)] },
    ];
    for (const { name, controllers } of objects) {
      const object = OperatorResource.object({ metadata: { name }, spec: { controllers } });
      await target.admin.create(object);
    }
    const isReady = async (): Promise<void> => {
      const { items } = await target.admin.list(OperatorResource);
      const states = items.map(({ status }) => findCondition(status?.conditions, 'Ready')?.status);
      expect(states).to.deep.equal(['True', 'True']);
    };
    scene.runObjects();
    await eventuallyMade(whole);
    await scene.eventually(isReady);
    await restart();
    await scene.writes();
    scene.runObjects();
    await scene.eventually(() => {
      expect(scene.group.listOperators()).to.have.length(2);
    });
    for (const operator of scene.group.listOperators()) await scene.synced(operator);
    await scene.put('Price', 'c', 'c');
    await eventuallyMade({ ...whole, 'price-c': { value: 'c' } });
    expect(await scene.writes()).to.deep.equal(['patch configmaps price-c']);
  });

  it('a group of operators deletes objects of controllers that were removed from an Operator object while no process ran', async () => {
    scene.runObjects();
    await put([...prices(), configMapOf('Price', 'again')], policy);
    await eventuallyMade({ ...whole, 'again-a': { value: 'a' }, 'again-b': { value: 'b' } });
    await eventuallyReady('True Ready of 1');
    await restart();
    await put([...prices()], policy);
    scene.runObjects();
    await eventuallyReady('True Ready of 2');
    expect(await scene.made()).to.deep.equal(whole);
    expect((await read())?.status?.controllers.map(({ name }) => name)).to.deep.equal([
      ...['see-price', 'make-price'],
    ]);
  });

  it('a group of operators deletes the objects of an Operator object that was deleted while no process ran', async () => {
    scene.runObjects();
    await put(prices(), policy);
    await eventuallyMade(whole);
    await eventuallyReady('True Ready of 1');
    await restart();
    await remove();
    scene.runObjects();
    await eventuallyGone();
    expect(await scene.made()).to.deep.equal({});
  });
}
