import { expect } from 'chai';
import {
  ConfigMap,
  CronJob,
  Deployment,
  NetworkPolicy,
  PersistentVolumeClaim,
  Secret,
  Service,
  StatefulSet,
} from '../../../lib/object/kinds.js';
import type { KubernetesObject } from '../../../lib/object/kubernetes-object.js';
import type { ResourceType } from '../../../lib/object/resource-type.js';
import type { Document } from '../../../lib/declarative/document.js';
import { Gadget, Widget } from './target-scene.js';
import type { OpenTargetScene } from './target-scene.js';

const container = {
  ...{ name: 'main', image: 'registry.example/main', ports: [{ containerPort: 80 }] },
  resources: { requests: { cpu: '1000m', memory: '1024Mi' }, limits: { memory: 1073741824 } },
  env: [
    { name: 'EMPTY', value: '' },
    { name: 'POD', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } },
  ],
  readinessProbe: { httpGet: { path: '/', port: 'http' } },
  volumeMounts: [{ name: 'all', mountPath: '/all' }],
};
const volumes = [
  { name: 'all', projected: { sources: [{ configMap: { name: 'a' } }] } },
  { name: 'empty', emptyDir: {} },
];
const labels = { app: 'web' };
const template = {
  metadata: { labels },
  spec: { containers: [container], volumes, securityContext: {}, nodeSelector: {} },
};
const selector = { matchLabels: labels };
const volumeClaimTemplates = [
  {
    metadata: { name: 'disk' },
    spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1024Mi' } } },
  },
];

const documents: readonly (readonly [ResourceType<KubernetesObject>, Document])[] = [
  [ConfigMap, { metadata: { labels, annotations: {} }, data: { a: '1', empty: '' } }],
  [Secret, { data: { a: '1', empty: '' } }],
  [
    Service,
    {
      spec: {
        ports: [
          { name: 'http', port: 80 },
          { name: 'dns', port: 53, protocol: 'UDP' },
        ],
        selector: labels,
      },
    },
  ],
  [Deployment, { spec: { paused: false, replicas: 0, selector, template } }],
  [
    StatefulSet,
    { spec: { replicas: 0, serviceName: 'web', selector, template, volumeClaimTemplates } },
  ],
  [
    CronJob,
    {
      spec: {
        schedule: '* * * * *',
        suspend: true,
        jobTemplate: { spec: { template: { spec: { ...template.spec, restartPolicy: 'Never' } } } },
      },
    },
  ],
  [
    NetworkPolicy,
    {
      spec: { podSelector: {}, ingress: [{ ports: [{ port: 80 }], from: [{ podSelector: {} }] }] },
    },
  ],
  [
    Widget,
    {
      spec: { parts: [{ name: 'a' }], tags: [], steps: [{ run: 'x' }] },
      status: { phase: 'Ready' },
    },
  ],
  [
    Gadget,
    { spec: { list: [{ a: 1 }, 'b', 2.5], empty: {}, none: [] }, status: { phase: 'Ready' } },
  ],
];

export function steadySuite(open: OpenTargetScene): void {
  for (const [type, document] of documents) {
    it(`an unchanged document causes no write of a ${type.kind}, whatever defaults the server adds`, async () => {
      const scene = await open();
      const updater = scene.updater(type);
      expect(await updater.write({ ...document, spec: document['spec'] })).to.equal('created');
      await scene.writes();
      for (let n = 0; n < 3; n++) expect(await updater.write(document)).to.equal('unchanged');
      expect(await scene.writes()).to.deep.equal([]);
      const before = await scene.get(type);
      await scene.updater(type).write(document);
      const after = await scene.get(type);
      expect(after.metadata.generation).to.equal(before.metadata.generation);
      expect(after['spec']).to.deep.equal(before['spec']);
      await updater.remove();
    });
  }

  it('an unchanged document causes no write in a new process if the server stores its values in another form', async () => {
    const scene = await open();
    const env = [{ name: 'EMPTY', value: '' }];
    const resources = { requests: { cpu: '1000m', memory: '1024Mi' }, limits: { cpu: 2.5 } };
    const main = { name: 'main', image: 'registry.example/main:1', env, resources, tty: false };
    const containers = [main];
    const spec = { containers, hostNetwork: false, nodeSelector: {} };
    const pods = { spec: { replicas: 0, selector, template: { metadata: { labels }, spec } } };
    // An entry is identified by its keys, defaults included, and not by its position.
    const ports = [
      { name: 'sctp', port: 53, protocol: 'SCTP' },
      { name: 'tcp', port: 53 },
    ];
    const service = { spec: { ports: ports.toReversed() } };
    await scene.updater(Deployment).write(pods);
    await scene.updater(Service).write(service);
    await scene.writes();
    expect(await scene.updater(Deployment).write(pods)).to.equal('unchanged');
    expect(await scene.updater(Service).write(service)).to.equal('unchanged');
    expect(await scene.writes()).to.deep.equal([]);
  });

  it('an unchanged document with only a name causes no write when another client annotates the object', async () => {
    const scene = await open();
    await scene.updater(ConfigMap).write({});
    await scene.edit(ConfigMap, { metadata: { annotations: { theirs: '1' } } });
    // The first edit of an annotation removes the operator's entry in `managedFields`.
    await scene.updater(ConfigMap).write({});
    await scene.edit(ConfigMap, { metadata: { annotations: { theirs: '2' } } });
    await scene.writes();
    expect(await scene.updater(ConfigMap).write({})).to.equal('unchanged');
    expect(await scene.writes()).to.deep.equal([]);
    expect((await scene.get(ConfigMap)).metadata.annotations).to.deep.equal({ theirs: '2' });
  });

  it('an unchanged document causes no write when a controller binds a PersistentVolumeClaim', async () => {
    const scene = await open();
    const resources = { requests: { storage: '1Gi' } };
    const claim = { spec: { accessModes: ['ReadWriteOnce'], storageClassName: '', resources } };
    const updater = scene.updater(PersistentVolumeClaim);
    await updater.write(claim);
    await scene.edit(PersistentVolumeClaim, { spec: { volumeName: 'disk' } });
    await scene.writes();
    expect(await updater.write(claim)).to.equal('unchanged');
    expect(await scene.writes()).to.deep.equal([]);
  });

  it('an unchanged document causes at most one write of an object that another client created with all defaults', async () => {
    const scene = await open();
    const document = { spec: { replicas: 0, selector, template } };
    await scene.create(Deployment, document);
    const updater = scene.updater(Deployment);
    await updater.write(document);
    await updater.write(document);
    await scene.writes();
    await updater.write(document);
    expect(await scene.writes()).to.deep.equal([]);
  });

  it('an unchanged document causes no further writes after another client has cleared managedFields', async () => {
    const scene = await open();
    const updater = scene.updater(ConfigMap);
    await updater.write({ data: { a: '1', b: '2' } });
    await scene.edit(ConfigMap, { metadata: { managedFields: [{}] } });
    await updater.write({ data: { a: '1' } });
    expect((await scene.get(ConfigMap))['data']).to.deep.equal({ a: '1' });
    await scene.writes();
    expect(await updater.write({ data: { a: '1' } })).to.equal('unchanged');
    expect(await scene.writes()).to.deep.equal([]);
  });
}
