import { expect } from 'chai';
import { isApiError } from '../../../lib/object/api-error.js';
import type { StatusCause } from '../../../lib/object/api-error.js';
import { EmbeddedCluster } from '../../../lib/apiserver/index.js';
import { ParseableTenant } from '../../../samples/parseable/tenant.js';

type Spec = ParseableTenant['spec'];
type Claims = NonNullable<Spec['k8sConfig'][number]['storageConfig']>;

const claim = (name: string, mountPath: string): Claims[number] => ({ name, mountPath, spec: {} });

function tenantWith(changes: Partial<Spec>): ParseableTenant {
  return ParseableTenant.object({
    metadata: { name: 'logs', namespace: 'default' },
    spec: {
      deploymentOrder: ['ingest', 'query'],
      nodes: [],
      k8sConfig: [],
      parseableConfig: [],
      ...changes,
    },
  });
}

function withClaims(...storageConfig: Claims): ParseableTenant {
  return tenantWith({ k8sConfig: [{ name: 'small', image: 'parseable', storageConfig }] });
}

function withStore(type: string, data = 'a: b'): ParseableTenant {
  return tenantWith({ external: { objectStore: { spec: { type, data } } } });
}

const textOf = ({ field = '', message = '' }: StatusCause): string => `${field}: ${message}`;

const cases: readonly [string, ParseableTenant, RegExp | undefined, ParseableTenant?][] = [
  ['accept a plain tenant', tenantWith({}), undefined],
  [
    'accept PersistentVolumeClaims with different names and paths',
    withClaims(claim('a', '/a'), claim('b', '/b')),
    undefined,
  ],
  [
    'require unique names of PersistentVolumeClaims',
    withClaims(claim('a', '/a'), claim('a', '/b')),
    /^spec\.k8sConfig\[0\]\.storageConfig: .*two claims have the same name/,
  ],
  [
    'require unique paths of PersistentVolumeClaims',
    withClaims(claim('a', '/a'), claim('b', '/a')),
    /^spec\.k8sConfig\[0\]\.storageConfig: .*two claims have the same mountPath/,
  ],
  [
    'list each type of node once in the order',
    tenantWith({ deploymentOrder: ['query', 'ingest', 'query'] }),
    /^spec\.deploymentOrder: .*a type of node is in it twice/,
  ],
  ['accept an added store', withStore('s3'), undefined, tenantWith({})],
  ['accept changed data of a store', withStore('s3', 'c: d'), undefined, withStore('s3')],
  [
    "reject a change of a store's type",
    withStore('gcs'),
    /^spec\.external\.objectStore\.spec\.type: .*what is stored would stay behind/,
    withStore('s3'),
  ],
];

describe('the CEL validation rules of ParseableTenant', () => {
  let cluster: EmbeddedCluster;

  before(async () => {
    cluster = await EmbeddedCluster.start({ crds: [ParseableTenant] });
  });

  after(() => cluster.stop());

  async function refusalOf(
    tenant: ParseableTenant,
    old?: ParseableTenant,
  ): Promise<readonly StatusCause[]> {
    const client = cluster.client();
    const stored = old && (await client.create(old));
    try {
      if (stored === undefined) await client.create(tenant, { dryRun: true });
      else {
        const { metadata } = stored;
        await client.update({ ...tenant, metadata }, { dryRun: true });
      }
      return [];
    } catch (error) {
      if (!isApiError(error)) throw error;
      return error.causes;
    } finally {
      if (old !== undefined) {
        await client.delete(ParseableTenant, { name: 'logs', namespace: 'default' });
      }
    }
  }

  for (const [title, tenant, message, old] of cases) {
    it(title, async () => {
      const causes = ParseableTenant.validate(tenant, old).map(textOf);
      expect(causes).to.have.length(message === undefined ? 0 : 1);
      if (message !== undefined) expect(causes[0]).to.match(message);
      expect((await refusalOf(tenant, old)).map(textOf)).to.deep.equal(causes);
    });
  }
});
