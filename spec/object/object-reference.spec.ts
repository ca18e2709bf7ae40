import { expect } from 'chai';
import { expectTypeOf } from 'expect-type';
import { defineResource, s } from '../../lib/crd/index.js';
import type { ObjectOf } from '../../lib/crd/index.js';
import type { Job } from '../../lib/object/kinds.js';
import { referenceTo } from '../../lib/object/object-reference.js';

const web = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { namespace: 'shop', name: 'web' } };
const shop = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop', uid: 'u-1' } };

describe('referenceTo', () => {
  it('contains the UID of an existing object', () => {
    expect(referenceTo(shop)).to.deep.equal({
      apiVersion: 'v1',
      kind: 'Namespace',
      name: 'shop',
      uid: 'u-1',
    });
    expect(referenceTo(web)).not.to.have.property('uid');
  });

  it('returns a value of the built-in schema type ObjectReference', () => {
    const CronTab = defineResource({
      group: 'example.com',
      kind: 'CronTab',
      versions: [
        {
          name: 'v1',
          schema: s.object({ spec: s.object({}) }),
          status: s.object({ active: s.array(s.builtIn('ObjectReference')) }),
        },
      ],
    });
    type Status = NonNullable<ObjectOf<typeof CronTab>['status']>;
    const statusOf = (jobs: readonly Job[]): Status => ({ active: jobs.map(referenceTo) });
    expect(CronTab.versions).to.deep.equal(['v1']);
    expectTypeOf(statusOf).returns.toEqualTypeOf<Status>();
    const job = { apiVersion: 'batch/v1', kind: 'Job', metadata: { name: 'a', uid: 'u' } } as const;
    expect(statusOf([job])).to.deep.equal({
      active: [{ apiVersion: 'batch/v1', kind: 'Job', name: 'a', uid: 'u' }],
    });
  });
});
