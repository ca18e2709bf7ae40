import { compileContext } from '../lib/declarative/spec-problem.js';
import type { Document } from '../lib/declarative/document.js';
import { ratioOf, rowOf } from './bench-result.js';
import type { BenchResult } from './bench-result.js';
import { evaluateWhole } from '../spec/declarative/engine/evaluate-whole.js';
import { OutputCollector, Pipeline, compilePlan } from '../lib/declarative/engine/index.js';

const rounds = 9;
/** Numbers of pods; there are a tenth as many services. */
const sizes = [1_000, 10_000, 100_000] as const;
const deltasARound = 2_000;
const podsAService = 10;

/** A pipeline that joins pods with their services by namespace and label, and lists the addresses of each service. */
const stages = [
  {
    '@join': {
      '@and': [
        { '@eq': ['$.Pod.metadata.namespace', '$.Service.metadata.namespace'] },
        { '@eq': ['$.Pod.metadata.labels.app', '$.Service.spec.selector.app'] },
      ],
    },
  },
  { '@project': { metadata: '$.Service.metadata', address: '$.Pod.status.podIP' } },
  { '@gather': [{ '@concat': ['$.metadata.namespace', '/', '$.metadata.name'] }, '$.address'] },
];

/**
 * Measures the microseconds from a pod's new address to the changed object of its service, through a join of
 * two sources and a gather. They should not depend on the number of objects. The peer is a full recomputation.
 */
export async function benchDeclarative(): Promise<BenchResult[]> {
  const plan = planned();
  const runs = sizes.map((size) => new Run(plan, size));
  const costs = sizes.map((): number[] => []);
  // The first two rounds warm up.
  for (let round = -2; round < rounds; round++) {
    // The order alternates, so that a change in the machine's speed affects all sizes alike.
    const order = [...runs.keys()];
    if (round % 2 === 0) order.reverse();
    for (const number of order) {
      const cost = runs[number]?.microsecondsADelta() ?? NaN;
      if (round >= 0) costs[number]?.push(cost);
    }
  }
  const [least = [], , most = []] = costs;
  return [
    {
      name: `a pod's address through join and gather, ${podsAService} pods a service`,
      unit: 'µs a change',
      rows: sizes.map((size, number) => rowOf(`${size} pods`, costs[number] ?? [])),
      ratio: ratioOf(`${sizes[2]} pods to ${sizes[0]} pods`, most, least),
    },
    naive(plan, runs),
  ];
}

/** Recomputes everything by comparing each pair. Omits 100,000 pods, which would be 1,000,000,000 pairs. */
function naive(plan: ReturnType<typeof planned>, runs: readonly Run[]): BenchResult {
  const measured = [3, 1].map((times, number) =>
    Array.from({ length: times }, () => runs[number]?.microsecondsAnew(plan) ?? NaN),
  );
  return {
    name: 'the same, everything recomputed',
    unit: 'µs a change',
    rows: measured.map((costs, number) => rowOf(`${sizes[number] ?? 0} pods`, costs)),
  };
}

/** A pipeline with its objects. */
class Run {
  readonly #pipeline: InstanceType<typeof Pipeline>;
  readonly #collector = new OutputCollector();
  readonly #pods: Document[];
  readonly #services: readonly Document[];
  #address = 0;

  constructor(plan: ReturnType<typeof planned>, size: number) {
    this.#pipeline = new Pipeline(plan);
    this.#pods = Array.from({ length: size }, (_, number) => this.#pod(number));
    this.#services = Array.from({ length: size / podsAService }, (_, number) => service(number));
    this.#push('Service', added(this.#services));
    this.#push('Pod', added(this.#pods));
  }

  microsecondsADelta(): number {
    const startMs = performance.now();
    for (let n = 0; n < deltasARound; n++) {
      // A prime step spreads the changes over all pods, without a repetition.
      const number = (n * 7_919) % this.#pods.length;
      const pod = this.#pod(number);
      const old = { document: this.#pods[number] ?? {}, weight: -1 };
      this.#pods[number] = pod;
      if (this.#push('Pod', [old, { document: pod, weight: 1 }]) !== 1) {
        throw new Error('a new address is one upsert');
      }
    }
    return ((performance.now() - startMs) * 1_000) / deltasARound;
  }

  microsecondsAnew(plan: ReturnType<typeof planned>): number {
    const startMs = performance.now();
    const result = evaluateWhole(plan, { Pod: this.#pods, Service: this.#services });
    const costMs = performance.now() - startMs;
    if (result.length !== this.#services.length) throw new Error('one object a service');
    return costMs * 1_000;
  }

  #push(source: string, deltas: Parameters<InstanceType<typeof Pipeline>['push']>[1]): number {
    return this.#collector.apply(this.#pipeline.push(source, deltas)).length;
  }

  #pod(number: number): Document {
    const address = this.#address++;
    const labels = { app: appOf(number), tier: 'backend' };
    return {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: `pod-${number}`, namespace: namespaceOf(number), labels },
      spec: {
        nodeName: `node-${number % 100}`,
        containers: [{ name: 'main', image: 'registry.example/app:1', ports: [{ port: 80 }] }],
      },
      status: {
        phase: 'Running',
        podIP: `10.${(address >> 16) & 255}.${(address >> 8) & 255}.${address & 255}`,
        conditions: [{ type: 'Ready', status: 'True' }],
      },
    };
  }
}

function planned(): NonNullable<ReturnType<typeof compilePlan>> {
  const context = compileContext([]);
  const plan = compilePlan(stages, [{ kind: 'Pod' }, { kind: 'Service' }], { context });
  if (plan === undefined || plan.warnings.length > 0) throw new Error('the plan has problems');
  return plan;
}

function added(documents: readonly Document[]): { document: Document; weight: number }[] {
  return documents.map((document) => ({ document, weight: 1 }));
}

function service(number: number): Document {
  const first = number * podsAService;
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: `service-${number}`, namespace: namespaceOf(first) },
    spec: { selector: { app: appOf(first) }, ports: [{ port: 80 }] },
  };
}

/** Returns the namespace of a pod. Each has ten services; all namespaces use the same app names. */
function namespaceOf(pod: number): string {
  return `ns-${Math.floor(pod / (podsAService * 10))}`;
}

function appOf(pod: number): string {
  return `app-${Math.floor(pod / podsAService) % 10}`;
}
