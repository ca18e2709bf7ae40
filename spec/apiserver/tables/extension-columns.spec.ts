import { expect } from 'chai';
import { Api } from '../api.js';
import { sampleKinds } from '../differential/kinds.js';

const accept = 'application/json;as=Table;v=v1;g=meta.k8s.io,application/json';

/** Columns that kube-apiserver 1.36 prints for the sample objects, besides name and age. */
const printed: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  Endpoints: { Endpoints: '10.1.2.3:80' },
  PodTemplate: { Containers: 'c', Images: 'nginx:1', 'Pod Labels': 'app=a' },
  ReplicationController: {
    ...{ Desired: 1, Current: 0, Ready: 0, Containers: 'c', Images: 'nginx:1' },
    Selector: 'app=a',
  },
  ControllerRevision: { Controller: '<none>', Revision: 1 },
  RuntimeClass: { Handler: 'h' },
  IngressClass: { Controller: 'example.com/c', Parameters: '<none>' },
  FlowSchema: {
    ...{ PriorityLevel: 'global-default', MatchingPrecedence: 1000 },
    ...{ DistinguisherMethod: '<none>', MissingPL: 'False' },
  },
  PriorityLevelConfiguration: {
    ...{ Type: 'Limited', NominalConcurrencyShares: 30, Queues: '<none>', HandSize: '<none>' },
    QueueLengthLimit: '<none>',
  },
  CSIDriver: {
    ...{ AttachRequired: false, PodInfoOnMount: false, StorageCapacity: false },
    ...{ TokenRequests: '<unset>', RequiresRepublish: false, Modes: 'Persistent' },
  },
  CSINode: { Drivers: 1 },
  VolumeAttachment: { Attacher: 'a', PV: 'v', Node: 'n', Attached: false },
  VolumeAttributesClass: { DriverName: 'd' },
  ValidatingWebhookConfiguration: { Webhooks: 1 },
  ValidatingAdmissionPolicy: { Validations: 1, ParamKind: '<unset>' },
  ValidatingAdmissionPolicyBinding: { PolicyName: 'p', ParamRef: '<unset>' },
  DeviceClass: {},
  ResourceClaim: { State: 'pending' },
};

interface Table {
  readonly columnDefinitions: readonly { readonly name: string; readonly description: string }[];
  readonly rows: readonly { readonly cells: readonly unknown[] }[];
}

describe('tables of rarely listed kinds', () => {
  for (const [kind, cells] of Object.entries(printed)) {
    it(`print a ${kind} as the real server does`, async () => {
      const sample = sampleKinds.find((one) => one.kind === kind);
      if (sample === undefined) throw new Error(`no sample of ${kind}`);
      const { apiVersion, plural, namespaced = true, fields } = sample;
      const root = apiVersion === 'v1' ? '/api/v1' : `/apis/${apiVersion}`;
      const path = `${root}${namespaced ? '/namespaces/default' : ''}/${plural}`;
      const api = new Api();
      const text = JSON.stringify({ apiVersion, kind, metadata: { name: 'one' }, ...fields });
      await api.create(path, JSON.parse(text.replaceAll('{{ns}}', 'default')) as object);
      const { body } = await api.get(`${path}/one`, { accept });
      const { columnDefinitions, rows } = body as unknown as Table;
      const found = Object.fromEntries(
        columnDefinitions.map(({ name }, index) => [name, rows[0]?.cells[index]]),
      );
      const { Name: name, Age: age, ...rest } = found;
      expect(name).to.equal('one');
      expect(age).to.equal(kind === 'PodTemplate' ? undefined : '0s');
      expect(rest).to.deep.equal(cells);
      const undescribed = columnDefinitions.filter(({ description }) => description === '');
      expect(undescribed.map((column) => column.name)).to.deep.equal(
        kind === 'RuntimeClass' ? ['Handler'] : [],
      );
    });
  }

  it('print the API group of the controller of an object, unless it is the core group', async () => {
    const revisions = '/apis/apps/v1/namespaces/default/controllerrevisions';
    const api = new Api();
    for (const [name, apiVersion] of Object.entries({ core: 'v1', apps: 'apps/v1' })) {
      const owner = { apiVersion, kind: 'Owner', name: 'o', uid: 'u', controller: true };
      const metadata = { name, ownerReferences: [owner] };
      await api.create(revisions, { metadata, revision: 1, data: {} });
    }
    const { rows } = (await api.get(revisions, { accept })).body as unknown as Table;
    expect(rows.map(({ cells }) => cells.slice(0, 2))).to.deep.equal([
      ['apps', 'owner.apps/o'],
      ['core', 'owner/o'],
    ]);
  });
});
