import { expect } from 'chai';
import type { BuilderTarget, NewTarget } from '../../builder/suite/target.js';
import { GroupScene, configMapOf, readyOf, viewOf } from './group-scene.js';

/** Specs of groups of operators, for any server. */
export function groupSuite(newTarget: NewTarget): void {
  let target: BuilderTarget;
  let scene: GroupScene;
  before(async () => {
    target = await newTarget();
  });
  beforeEach(async () => {
    scene = await GroupScene.begin(target);
    for (const [name, of] of Object.entries({ a: 'Price', b: 'Price', c: 'Stock' })) {
      await scene.put(of, name, name);
    }
  });
  afterEach(() => scene.end());
  after(() => target.close());

  /** An operator with two chains: prices and stocks. */
  const shop = (...more: Parameters<typeof configMapOf>[2][]) => ({
    controllers: [
      viewOf('Price', scene.namespace),
      configMapOf('Price', 'price', more[0]),
      viewOf('Stock', scene.namespace),
      configMapOf('Stock', 'stock', more[1]),
    ],
  });

  const whole = {
    'price-a': { value: 'a' },
    'price-b': { value: 'b' },
    'stock-c': { value: 'c' },
  };
  const eventuallyMade = (expected: object): Promise<void> =>
    scene.eventually(async () => {
      expect(await scene.made()).to.deep.equal(expected);
    });

  it('a group runs operators that are added before and after the start of the group', async () => {
    const { group, namespace } = scene;
    const [early, late] = [scene.name('early'), scene.name('late')];
    await group.addOperator(early, {
      controllers: [viewOf('Price', namespace), configMapOf('Price', 'price')],
    });
    scene.run();
    await eventuallyMade({ 'price-a': { value: 'a' }, 'price-b': { value: 'b' } });
    await group.addOperator(late, {
      controllers: [viewOf('Stock', namespace), configMapOf('Stock', 'stock')],
    });
    await eventuallyMade(whole);
    expect(group.listOperators().map(({ name }) => name)).to.deep.equal([early, late]);
    await scene.eventually(() => expect(readyOf(group.getOperator(late))).to.equal('True Ready'));
    expect(readyOf(group.getOperator(early))).to.equal('True Ready');
  });

  it('a group lets an operator read the views of another operator, even of one that is added later', async () => {
    const { group, namespace } = scene;
    const [maker, reader] = [scene.name('maker'), scene.name('reader')];
    const apiGroup = `${maker}.view.dcontroller.io`;
    await group.addOperator(reader, { controllers: [configMapOf('Price', 'price', { apiGroup })] });
    scene.run();
    await group.addOperator(maker, { controllers: [viewOf('Price', namespace)] });
    await eventuallyMade({ 'price-a': { value: 'a' }, 'price-b': { value: 'b' } });
    expect(await scene.views(maker, 'Price')).to.deep.equal(['a', 'b']);
  });

  it('a group replaces only the changed controller, without lost or repeated writes', async () => {
    const { group } = scene;
    const name = scene.name('shop');
    scene.run();
    const operator = await group.addOperator(name, shop());
    await eventuallyMade(whole);
    await scene.synced(operator);
    const before = operator.listControllers();
    await scene.writes();
    await group.upsertOperator(name, shop({ data: { value: '$.data.value', more: 'yes' } }));
    await eventuallyMade({
      'price-a': { value: 'a', more: 'yes' },
      'price-b': { value: 'b', more: 'yes' },
      'stock-c': { value: 'c' },
    });
    await scene.synced(operator);
    expect((await scene.writes()).toSorted()).to.deep.equal([
      'patch configmaps price-a',
      'patch configmaps price-b',
    ]);
    const after = group.getOperator(name)?.listControllers() ?? [];
    expect(after.map((controller, place) => controller === before[place])).to.deep.equal([
      true,
      false,
      true,
      true,
    ]);
  });

  it('a group keeps objects computed from views when the controller that writes the views is renamed', async () => {
    const { group, namespace } = scene;
    const name = scene.name('shop');
    scene.run();
    const operator = await group.addOperator(name, shop());
    await eventuallyMade(whole);
    await scene.synced(operator);
    await scene.writes();
    const [prices, ...others] = shop().controllers;
    const renamed = { ...(prices ?? viewOf('Price', namespace)), name: 'prices' };
    await group.upsertOperator(name, { controllers: [renamed, ...others] });
    await scene.put('Price', 'd', 'd');
    await eventuallyMade({ ...whole, 'price-d': { value: 'd' } });
    expect(await scene.writes()).to.deep.equal(['patch configmaps price-d']);
  });

  it('a group keeps objects that another operator computes from views when the controller that writes the views is renamed', async () => {
    const { group, namespace } = scene;
    const [maker, reader] = [scene.name('maker'), scene.name('reader')];
    const apiGroup = `${maker}.view.dcontroller.io`;
    const named = (name: string) => ({ controllers: [{ ...viewOf('Price', namespace), name }] });
    scene.run();
    await group.addOperator(maker, named('see-price'));
    const operator = await group.addOperator(reader, {
      controllers: [configMapOf('Price', 'price', { apiGroup })],
    });
    await eventuallyMade({ 'price-a': { value: 'a' }, 'price-b': { value: 'b' } });
    await scene.synced(operator);
    await scene.writes();
    await group.upsertOperator(maker, named('prices'));
    await scene.put('Price', 'd', 'd');
    await scene.eventually(async () => expect(await scene.made()).to.have.property('price-d'));
    expect(await scene.writes()).to.deep.equal(['patch configmaps price-d']);
  });

  it('a group writes nothing after an upsert without changes', async () => {
    const { group } = scene;
    const name = scene.name('shop');
    scene.run();
    const operator = await group.addOperator(name, shop());
    await eventuallyMade(whole);
    await scene.synced(operator);
    await scene.writes();
    await group.upsertOperator(name, shop());
    await scene.synced(operator);
    expect(await scene.writes()).to.deep.equal([]);
  });

  it('a group loses no change that arrives while it replaces a controller', async () => {
    const { group } = scene;
    const name = scene.name('shop');
    scene.run();
    await group.addOperator(name, shop());
    await eventuallyMade(whole);
    await Promise.all([
      group.upsertOperator(name, shop({ data: { value: '$.data.value', n: '1' } })),
      scene.put('Price', 'd', 'd'),
      scene.drop('a'),
      group.upsertOperator(name, shop({ data: { value: '$.data.value', n: '2' } })),
    ]);
    await eventuallyMade({
      'price-b': { value: 'b', n: '2' },
      'price-d': { value: 'd', n: '2' },
      'stock-c': { value: 'c' },
    });
  });

  it('a group removes an operator together with its views, but by default keeps the objects that the operator wrote', async () => {
    const { group } = scene;
    const name = scene.name('shop');
    scene.run();
    await group.addOperator(name, shop());
    await eventuallyMade(whole);
    await scene.writes();
    await group.deleteOperator(name);
    expect(group.getOperator(name)).to.equal(undefined);
    expect(scene.manager.views.types(name)).to.deep.equal([]);
    expect(await scene.made()).to.deep.equal(whole);
    expect(await scene.writes()).to.deep.equal([]);
    expect(scene.manager.status().controllers).to.deep.equal([]);
  });

  it('a group deletes exactly the objects that a removed operator wrote, with the clean-up policy "delete"', async () => {
    const { group } = scene;
    const [name, other] = [scene.name('shop'), scene.name('other')];
    scene.run();
    await group.addOperator(name, shop());
    await group.addOperator(other, {
      controllers: [viewOf('Stock', scene.namespace), configMapOf('Stock', 'kept')],
    });
    await eventuallyMade({ ...whole, 'kept-c': { value: 'c' } });
    await group.deleteOperator(name, { cleanUp: 'delete' });
    expect(await scene.made()).to.deep.equal({ 'kept-c': { value: 'c' } });
    expect(await scene.views(other, 'Stock')).to.deep.equal(['c']);
  });

  it('a group deletes objects computed from views of a removed operator, and writes them again when the operator is added again', async () => {
    const { group, namespace } = scene;
    const [maker, reader] = [scene.name('maker'), scene.name('reader')];
    const apiGroup = `${maker}.view.dcontroller.io`;
    scene.run();
    await group.addOperator(maker, { controllers: [viewOf('Price', namespace)] });
    await group.addOperator(reader, { controllers: [configMapOf('Price', 'price', { apiGroup })] });
    const both = { 'price-a': { value: 'a' }, 'price-b': { value: 'b' } };
    await eventuallyMade(both);
    await group.deleteOperator(maker);
    await eventuallyMade({});
    await group.addOperator(maker, { controllers: [viewOf('Price', namespace)] });
    await eventuallyMade(both);
  });

  it('a group deletes the objects of a removed controller if the policy says so, and always deletes its views', async () => {
    const { group } = scene;
    const name = scene.name('shop');
    const stocks = shop().controllers.slice(2);
    scene.run();
    await group.addOperator(name, shop());
    await eventuallyMade(whole);
    await group.upsertOperator(name, { controllers: stocks }, { cleanUp: 'delete' });
    expect(await scene.made()).to.deep.equal({ 'stock-c': { value: 'c' } });
    expect(await scene.views(name, 'Price')).to.deep.equal([]);
    const [views] = stocks;
    await group.upsertOperator(name, { controllers: views === undefined ? [] : [views] });
    expect(await scene.made()).to.deep.equal({ 'stock-c': { value: 'c' } });
    expect(await scene.views(name, 'Stock')).to.deep.equal(['c']);
  });

  it('a group deletes the objects in the old target of a controller whose target changes', async () => {
    const { group } = scene;
    const name = scene.name('shop');
    const [prices, make] = shop().controllers;
    if (prices === undefined || make === undefined) throw new Error('no controllers');
    scene.run();
    await group.addOperator(name, { controllers: [prices, make] });
    await eventuallyMade({ 'price-a': { value: 'a' }, 'price-b': { value: 'b' } });
    const moved = { ...make, target: { kind: 'Copy' } };
    const operator = await group.upsertOperator(
      name,
      { controllers: [prices, moved] },
      { cleanUp: 'delete' },
    );
    expect(await scene.made()).to.deep.equal({});
    await scene.synced(operator);
    expect(await scene.views(name, 'Copy')).to.deep.equal(['price-a', 'price-b']);
  });

  it('a group reports an invalid controller and runs the others, and all are ready when the controller is corrected', async () => {
    const { group, namespace } = scene;
    const name = scene.name('shop');
    const [prices, make] = shop().controllers;
    if (prices === undefined || make === undefined) throw new Error('no controllers');
    scene.run();
    const pipeline = [
      { '@project': { metadata: { name: { '@concatt': ['x', '$.metadata.name'] } } } },
    ];
    const bad = { ...make, pipeline };
    const operator = await group.addOperator(name, { controllers: [prices, bad] });
    await scene.eventually(async () => {
      expect(await scene.views(name, 'Price')).to.deep.equal(['a', 'b']);
    });
    expect(readyOf(operator, 'make-price')).to.equal('False NotReady');
    expect(readyOf(operator)).to.equal('False NotReady');
    const [, told] = operator.getStatus(7).controllers;
    expect(told?.conditions?.[0]?.message)
      .to.include(`operator ${name}: controllers[1].pipeline[0]["@project"].metadata.name`)
      .and.include('did you mean @concat?');
    expect(told?.lastErrors?.[0]).to.include('@concatt');
    expect(told?.conditions?.[0]?.observedGeneration).to.equal(7);
    expect(await scene.made()).to.deep.equal({});
    await group.upsertOperator(name, {
      controllers: [viewOf('Price', namespace), configMapOf('Price', 'price')],
    });
    await eventuallyMade({ 'price-a': { value: 'a' }, 'price-b': { value: 'b' } });
    await scene.eventually(() => expect(readyOf(operator)).to.equal('True Ready'));
  });

  it('a group keeps the objects of a controller with an invalid specification, even with the policy cleanUp: delete', async () => {
    const { group } = scene;
    const name = scene.name('shop');
    const [prices, make] = shop().controllers;
    if (prices === undefined || make === undefined) throw new Error('no controllers');
    const both = { 'price-a': { value: 'a' }, 'price-b': { value: 'b' } };
    const policy = { cleanUp: 'delete' } as const;
    scene.run();
    await group.addOperator(name, { controllers: [prices, make] });
    await eventuallyMade(both);
    const bad = { ...make, pipeline: { '@sellect': true } };
    const operator = await group.upsertOperator(name, { controllers: [prices, bad] }, policy);
    expect(readyOf(operator, 'make-price')).to.equal('False NotReady');
    expect(await scene.made()).to.deep.equal(both);
    await scene.writes();
    await group.upsertOperator(name, { controllers: [prices, make] }, policy);
    await scene.synced(operator);
    expect(await scene.writes()).to.deep.equal([]);
    await group.upsertOperator(name, { controllers: [prices, bad] }, policy);
    const moved = { ...make, target: { kind: 'Copy' } };
    await group.upsertOperator(name, { controllers: [prices, moved] }, policy);
    expect(await scene.made()).to.deep.equal({});
  });

  it('a group sets Ready to Unknown and reports the operator on a data error, and sets Ready to True once the data is valid', async () => {
    const { group } = scene;
    const name = scene.name('shop');
    scene.run();
    const { namespace } = scene;
    const number = { number: { '@int': '$.data.value' } };
    await group.addOperator(name, { controllers: [viewOf('Stock', namespace, number)] });
    await scene.eventually(() =>
      expect(readyOf(group.getOperator(name))).to.equal('Unknown ReconciliationFailed'),
    );
    const [errors] = [group.errors[Symbol.asyncIterator]()];
    const { value: error } = await errors.next();
    expect(error).to.include({ operator: name, controller: 'see-stock', stage: '@project' });
    expect(error?.message).to.include(name).and.include(`${namespace}/c`);
    const [reported] = group.getOperator(name)?.getController('see-stock')?.reportErrors() ?? [];
    expect(reported).to.equal(error);
    await scene.put('Stock', 'c', '12');
    await scene.eventually(() => expect(readyOf(group.getOperator(name))).to.equal('True Ready'));
    await scene.eventually(async () => {
      expect(await scene.views(name, 'Stock')).to.deep.equal(['c']);
    });
  });
}
