import { expect } from 'chai';
import { CustomResourceDefinition } from '../../../lib/object/kinds.js';
import { isNotFound } from '../../../lib/object/api-error.js';
import { createClient } from '../../../lib/client/index.js';
import type { Views } from '../../../lib/declarative/views/index.js';
import { failureOf } from '../../client/scripted-transport.js';
import { HealthView, eventsOf, healthView, keysOf, withViews } from './view-objects.js';

/** Returns the names of the CRDs on the server. */
async function definitions(views: Views): Promise<(string | undefined)[]> {
  const client = createClient({ transport: views.server.transport() });
  const { items } = await client.list(CustomResourceDefinition);
  await client.close();
  return items.map(({ metadata }) => metadata.name);
}

describe('Views.drop, which removes the views of an operator', () => {
  it('drops objects and kinds of the given operator only', () =>
    withViews(async ({ views }) => {
      await views.client.create(healthView({ name: 'a' }));
      await views.ensure('op', 'Second');
      await views.ensure('other', 'HealthView');
      const type = await views.client.resourceType(HealthView);
      await views.drop('op');
      expect(await definitions(views)).to.deep.equal(['healthview.other.view.dcontroller.io']);
      expect(views.types().map(({ group }) => group)).to.deep.equal(['other.view.dcontroller.io']);
      const unknown = await failureOf(views.client.list(HealthView));
      expect(unknown).to.have.property('code', 'UnknownKind');
      expect(isNotFound(await failureOf(views.client.list(type)))).to.equal(true);
    }));

  it('removes the views from the watch history, so that watches from an earlier version have to list again', () =>
    withViews(async ({ views }) => {
      const { metadata } = await views.client.create(healthView({ name: 'a' }));
      await views.ensure('other', 'HealthView');
      await views.drop('op');
      const other = { ...HealthView, apiVersion: 'other.view.dcontroller.io/v1alpha1' };
      const { resourceVersion } = metadata;
      const events = views.client.watch(other, { resourceVersion })[Symbol.asyncIterator]();
      expect(await failureOf(events.next())).to.have.property('code', 'ApiError');
    }));

  it('does nothing if there are no views', () =>
    withViews(async ({ views }) => {
      await views.drop('op');
      await views.ensure('op', 'A');
      await Promise.all([views.drop('op'), views.drop('op')]);
      expect(views.types()).to.deep.equal([]);
    }));

  it('removes views with finalizers at once, with or without a namespace', () =>
    withViews(async ({ views }) => {
      const finalizers = ['example.com/never'];
      await views.client.create(healthView({ name: 'a', finalizers }));
      await views.client.create(healthView({ name: 'a', namespace: 'x', finalizers }));
      await views.client.create(healthView({ name: 'b', namespace: 'x', finalizers }));
      await views.client.delete(HealthView, { name: 'b', namespace: 'x' });
      await views.drop('op');
      expect(await definitions(views)).to.deep.equal([]);
      await views.ensure('op', 'HealthView');
      expect(await keysOf(views.client)).to.deep.equal([]);
    }));

  it('ends watches of the views after DELETED events, and keeps watches of views of other operators', () =>
    withViews(async ({ views }) => {
      const other = { ...HealthView, apiVersion: 'other.view.dcontroller.io/v1alpha1' };
      await views.client.create(healthView({ name: 'a' }));
      await views.client.create({ ...other, metadata: { name: 'b' } });
      const seen = eventsOf(views.client, 99);
      const stays = views.client.watch(other)[Symbol.asyncIterator]();
      expect((await stays.next()).value).to.have.property('type', 'ADDED');
      // This bookmark ends the initial events.
      expect((await stays.next()).value).to.have.property('type', 'BOOKMARK');
      await views.drop('op');
      expect(await seen).to.deep.equal(['ADDED a', 'DELETED a']);
      const next = stays.next();
      await views.client.create({ ...other, metadata: { name: 'c' } });
      expect(await next).to.have.nested.property('value.object.metadata.name', 'c');
      await stays.return?.();
    }));

  it('delays calls for a kind until the kind is removed, and then registers the kind again', () =>
    withViews(async ({ views }) => {
      const { metadata } = await views.client.create(healthView({ name: 'a' }));
      const dropping = views.drop('op');
      const [ensured, created] = await Promise.all([
        views.ensure('op', 'HealthView'),
        views.client.create(healthView({ name: 'a' })),
        dropping,
      ]);
      expect(ensured).to.have.property('plural', 'healthview');
      expect(created.metadata.uid).not.to.equal(metadata.uid);
      expect(await keysOf(views.client)).to.deep.equal(['a']);
    }));

  it('waits for the registration of a kind that is in progress, and then removes the kind', () =>
    withViews(async ({ views }) => {
      const ensuring = views.ensure('op', 'HealthView');
      await views.drop('op');
      await ensuring;
      expect(await definitions(views)).to.deep.equal([]);
    }));
});
