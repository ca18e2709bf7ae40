import { expect } from 'chai';
import type { Views } from '../../../lib/declarative/views/index.js';
import { failureOf } from '../../client/scripted-transport.js';
import { healthView, withViews } from './view-objects.js';

const group = '/apis/op.view.dcontroller.io/v1alpha1';

async function get<T>(views: Views, path: string, accept = 'application/json'): Promise<T> {
  const { body } = await views.server.handle({ method: 'GET', path, headers: { accept } });
  const chunks: Uint8Array[] = [];
  for await (const chunk of body) chunks.push(chunk);
  return JSON.parse(Buffer.concat(chunks).toString()) as T;
}

interface Resource {
  readonly name: string;
  readonly singularName: string;
  readonly shortNames?: readonly string[];
  readonly kind: string;
  readonly namespaced: boolean;
}

/** Returns the names by which kubectl finds each kind: plural, singular and short names. */
async function namesOf(views: Views): Promise<Record<string, readonly string[]>> {
  const { resources } = await get<{ resources: readonly Resource[] }>(views, group);
  const named = resources.map(({ kind, name, singularName, shortNames = [] }) => {
    return [kind, [...new Set([name, singularName, ...shortNames])]] as const;
  });
  return Object.fromEntries(named);
}

describe('The names of a kind of views', () => {
  it('are its name in lower case, and the plural of this name', () =>
    withViews(async ({ views }) => {
      for (const kind of ['HealthView', 'Policy', 'Class']) await views.ensure('op', kind);
      expect(await namesOf(views)).to.deep.equal({
        HealthView: ['healthview', 'healthviews'],
        Policy: ['policy', 'policies'],
        Class: ['class', 'classes'],
      });
      const { resources } = await get<{ resources: readonly Resource[] }>(views, group);
      expect(resources.map(({ namespaced }) => namespaced)).to.deep.equal([true, true, true]);
    }));

  it('do not include a plural that is the name of another kind, in whatever order the kinds are registered', () =>
    withViews(async ({ views }) => {
      for (const kind of ['Pod', 'Pods', 'Nodes', 'Node']) await views.ensure('op', kind);
      expect(await namesOf(views)).to.deep.equal({
        Pod: ['pod'],
        Pods: ['pods', 'podses'],
        Nodes: ['nodes', 'nodeses'],
        Node: ['node'],
      });
    }));

  it('have up to 59 letters', () =>
    withViews(async ({ views }) => {
      const kind = `K${'x'.repeat(58)}`;
      await views.ensure('op', kind);
      expect(await namesOf(views)).to.have.property(kind);
      const error = await failureOf(views.ensure('op', `${kind}y`));
      expect(error).to.have.property('code', 'InvalidObject');
      expect(error.message).to.include('at most 63');
    }));

  it('appear in aggregated discovery, with a schema that allows any field', () =>
    withViews(async ({ views }) => {
      await views.ensure('op', 'HealthView');
      const accept = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';
      const { items } = await get<{ items: { metadata: { name: string } }[] }>(
        views,
        '/apis',
        accept,
      );
      expect(items.map(({ metadata }) => metadata.name)).to.include('op.view.dcontroller.io');
      const openapi = JSON.stringify(await get(views, `/openapi/v3${group}`));
      expect(openapi).to.include('"x-kubernetes-preserve-unknown-fields":true');
    }));
});

describe('A table of views', () => {
  it('has a row for each view, with or without a namespace', () =>
    withViews(async ({ views, clock }) => {
      await views.client.create(healthView({ name: 'a' }));
      await views.client.create(healthView({ name: 'b', namespace: 'x' }));
      await clock.advance(5_000);
      const accept = 'application/json;as=Table;v=v1;g=meta.k8s.io,application/json';
      const table = await get<{ rows: { cells: unknown[]; object: { metadata: object } }[] }>(
        ...([views, `${group}/healthview`, accept] as const),
      );
      expect(table.rows.map(({ cells }) => cells)).to.deep.equal([
        ['a', '5s'],
        ['b', '5s'],
      ]);
      const [, { object }] = table.rows as [unknown, { object: { metadata: object } }];
      expect(object.metadata).to.include({ namespace: 'x' });
    }));
});
