import type { K8sConfig, NodeSpec, TenantSpec } from '../../samples/parseable/tenant.js';

type Draft<T> = { -readonly [Name in keyof T]: T[Name] };

/** Numbers from which an edit is made: its type, and two choices in it. */
export type EditNumbers = readonly [number, number, number];

/** An edit of a tenant's spec. */
export interface Edit {
  readonly name: string;
  readonly spec: TenantSpec;
}

/** Returns an edit of `spec`: what users of a tenant change. Equal numbers give equal edits. */
export function editOf(spec: TenantSpec, [type, first, second]: EditNumbers): Edit {
  const draft = structuredClone(spec) as Draft<TenantSpec>;
  const all = Object.entries(edits);
  const [name, change] = all[type % all.length] ?? ['', () => undefined];
  change(draft, first, second);
  return { name, spec: draft };
}

type Change = (spec: Draft<TenantSpec>, first: number, second: number) => void;

/** Each function changes a draft in place. An edit that does not fit the tenant changes nothing. */
const edits: Readonly<Record<string, Change>> = {
  image: (spec, first, second) => {
    changeConfig(spec, first, { image: `parseable/parseable:v1.5.${second % 5}` });
  },
  pullPolicy: (spec, first, second) => {
    changeConfig(spec, first, { imagePullPolicy: pick(['Always', 'IfNotPresent'], second) });
  },
  resources: (spec, first, second) => {
    const requests = { cpu: `${100 + (second % 4) * 50}m`, memory: '1Gi' };
    changeConfig(spec, first, { resources: { requests } });
  },
  podAnnotations: (spec, first, second) => {
    changeConfig(spec, first, { podMetadata: { annotations: { note: `n${second % 3}` } } });
  },
  tolerations: (spec, first, second) => {
    const toleration = { key: 'dedicated', operator: 'Equal', value: `logs-${second % 3}` };
    changeConfig(spec, first, { tolerations: [toleration] });
  },
  containerEnv: (spec, first, second) => {
    changeConfig(spec, first, { env: [{ name: 'MODE', value: `m${second % 3}` }] });
  },
  service: (spec, first, second) => {
    const port = { port: 80 + (second % 3), targetPort: 8000 };
    changeConfig(spec, first, { service: { ports: [port] } });
  },
  volumes: (spec, first, second) => {
    const name = `scratch-${second % 2}`;
    const volumeMount = [{ name, mountPath: `/${name}` }];
    changeConfig(spec, first, { volumes: [{ name, emptyDir: {} }], volumeMount });
  },
  replicas: (spec, first, second) => {
    changeNode(spec, first, { replicas: second % 4 });
  },
  setting: (spec, first, second) => {
    const at = first % spec.parseableConfig.length;
    spec.parseableConfig = spec.parseableConfig.map((config, index) =>
      index === at
        ? { ...config, env: { ...config.env, [`P_OPTION_${second % 3}`]: `v${second % 7}` } }
        : config,
    );
  },
  removedSetting: (spec, first, second) => {
    const at = first % spec.parseableConfig.length;
    spec.parseableConfig = spec.parseableConfig.map((config, index) => {
      if (index !== at) return config;
      const entries = Object.entries(config.env ?? {});
      return {
        ...config,
        env: Object.fromEntries(entries.filter((_, nth) => nth !== second % entries.length)),
      };
    });
  },
  arguments: (spec, first, second) => {
    const at = first % spec.parseableConfig.length;
    spec.parseableConfig = spec.parseableConfig.map((config, index) =>
      index === at ? { ...config, cliArgs: ['s3-store', `--level=${second % 3}`] } : config,
    );
  },
  otherConfig: (spec, first, second) => {
    const { name } = pick(spec.parseableConfig, second);
    changeNode(spec, first, { parseableConfig: name });
  },
  otherResources: (spec, first, second) => {
    const { name } = pick(spec.k8sConfig, second);
    changeNode(spec, first, { k8sConfig: name });
  },
  addedNode: (spec, first, second) => {
    const name = `added-${second % 3}`;
    if (spec.nodes.length >= 5 || spec.nodes.some((node) => node.name === name)) return;
    spec.nodes = [...spec.nodes, { ...pick(spec.nodes, first), name, replicas: 1 }];
  },
  removedNode: (spec, first) => {
    if (spec.nodes.length === 1) return;
    spec.nodes = spec.nodes.filter((_, index) => index !== first % spec.nodes.length);
  },
  otherKind: (spec, first) => {
    const { kind } = pick(spec.nodes, first);
    changeNode(spec, first, { kind: kind === 'Deployment' ? 'StatefulSet' : 'Deployment' });
  },
  order: (spec) => {
    spec.deploymentOrder = spec.deploymentOrder.toReversed();
  },
  objectStore: (spec, _, second) => {
    const data = `P_S3_URL=http://minio:9000\nP_S3_BUCKET=bucket-${second % 3}`;
    spec.external = { objectStore: { spec: { type: 's3', data } } };
  },
  noObjectStore: (spec) => {
    delete spec.external;
  },
  two: (spec, first, second) => {
    edits['image']?.(spec, first, second);
    edits['setting']?.(spec, second, first);
  },
  nothing: () => undefined,
};

function changeConfig(spec: Draft<TenantSpec>, nth: number, change: Partial<K8sConfig>): void {
  const at = nth % spec.k8sConfig.length;
  spec.k8sConfig = spec.k8sConfig.map((each, index) =>
    index === at ? { ...each, ...change } : each,
  );
}

function changeNode(spec: Draft<TenantSpec>, nth: number, change: Partial<NodeSpec>): void {
  const at = nth % spec.nodes.length;
  spec.nodes = spec.nodes.map((each, index) => (index === at ? { ...each, ...change } : each));
}

function pick<T>(values: readonly T[], nth: number): T {
  const value = values[nth % values.length];
  if (value === undefined) throw new Error('nothing to pick from');
  return value;
}
