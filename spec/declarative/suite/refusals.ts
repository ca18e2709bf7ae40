import { expect } from 'chai';
import { isInvalid } from '../../../lib/object/api-error.js';
import { ConfigMap, Deployment, Service } from '../../../lib/object/kinds.js';
import { isOperatorError } from '../../../lib/system/operator-error.js';
import { thrownBy } from './patcher.js';
import { Realm, Widget } from './target-scene.js';
import type { OpenTargetScene } from './target-scene.js';
import { deployment } from './updater.js';

export function refusalsSuite(open: OpenTargetScene): void {
  for (const how of ['Updater', 'Patcher'] as const) {
    it(`an invalid write is refused before any request: a missing or unnecessary namespace (${how})`, async () => {
      const scene = await open();
      const { namespace, context } = scene;
      const realms = scene.writing(Realm, how).writer;
      const tooMany = await thrownBy(realms.write({ namespace, name: 'web' }, {}, context));
      expect(isOperatorError(tooMany, 'InvalidObject')).to.equal(true);
      expect(String(tooMany)).to.contain(`${namespace}/web: Realm is cluster-scoped`);
      const maps = scene.writing(ConfigMap, how).writer;
      const tooFew = await thrownBy(maps.write({ name: 'web' }, {}, context));
      expect(isOperatorError(tooFew, 'InvalidObject')).to.equal(true);
      expect(String(tooFew)).to.contain('ConfigMap web').and.to.contain('set metadata.namespace');
      expect(await realms.write({ namespace, name: 'web' }, undefined, context)).to.equal(
        'unchanged',
      );
      expect(await maps.write({ name: 'web' }, undefined, context)).to.equal('unchanged');
    });

    it(`an invalid write is refused: a label that is not a string (${how})`, async () => {
      const scene = await open();
      const writing = scene.writing(ConfigMap, how);
      const number = await thrownBy(writing.write({ metadata: { labels: { 'a.b/c': 5 } } }));
      expect(String(number)).to.contain('metadata.labels["a.b/c"]: want a string');
      const list = await thrownBy(writing.write({ metadata: { annotations: ['x'] } }));
      expect(String(list)).to.contain('metadata.annotations: want a map');
    });

    it(`an invalid write is refused with the name of the object in the error: an immutable field (${how})`, async () => {
      const scene = await open();
      await scene.updater(Deployment).write(deployment());
      const writing = scene.writing(Deployment, how, 'shop/other');
      const selector = { matchLabels: { app: 'other' } };
      const document = how === 'Updater' ? deployment({ selector }) : { spec: { selector } };
      const error = await thrownBy(writing.write(document));
      expect(isInvalid(error), String(error)).to.equal(true);
      const name = `apply Deployment ${scene.namespace}/web`;
      expect(String(error)).to.contain(name).and.to.contain('selector');
    });

    it(`an invalid write is refused: an unknown field (${how})`, async () => {
      const scene = await open();
      await scene.create(Service, { spec: { ports: [{ port: 80 }] } });
      const writing = scene.writing(Service, how);
      const error = await thrownBy(writing.write({ spec: { ports: [{ port: 80 }], porst: 1 } }));
      expect(String(error)).to.contain(`Service ${scene.namespace}/web`).and.to.contain('porst');
    });
  }

  it("the removal of a Patcher's fields is refused if it would make the object invalid", async () => {
    const scene = await open();
    await scene.create(Widget, { spec: { size: 4 } });
    const patcher = scene.patcher(Widget);
    const error = await thrownBy(patcher.write({ spec: { size: 'large' } }));
    expect(String(error)).to.contain(`Widget ${scene.namespace}/web`).and.to.contain('size');
    expect((await scene.get(Widget))['spec']).to.deep.equal({ size: 4 });
  });
}
