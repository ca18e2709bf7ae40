// Compares operators that reconcile many custom resources, one operator at a time, on a real control plane:
// `npm run bench -- fleet [--fleet-sizes=100,1000] [--fleet-peers=operator-builder,controller-runtime]`.
// `--fleet-profile=FOLDER` writes a CPU profile of each Node operator to the folder.
import { mkdir, writeFile } from 'node:fs/promises';
import { cpus } from 'node:os';
import { startControlPlane } from '../../spec/cluster/control-plane/index.js';
import type { ControlPlane } from '../../spec/cluster/control-plane/index.js';
import { clientFromKubeConfig, ensureCrd } from '../built.js';
import type { BenchResult } from '../bench-result.js';
import { flag } from '../sides.js';
import { peers } from './operator-process.js';
import type { Peer } from './operator-process.js';
import { Fleet } from './phases.js';
import type { PhaseResult } from './phases.js';
import { Ship } from './ship.js';

/** Results of one operator with one fleet. */
export interface FleetResult {
  readonly peer: Peer;
  readonly size: number;
  readonly phases: readonly PhaseResult[];
}

/** Content of `bench/results/fleet.json`. */
export interface FleetReport {
  /** Time of the run in RFC 3339. */
  readonly date: string;
  readonly machine: string;
  readonly node: string;
  readonly results: readonly FleetResult[];
}

/** Measures each operator with each size of fleet. Writes `bench/results/fleet.json`. */
export async function benchFleet(): Promise<readonly BenchResult[]> {
  const sizes = (flag('fleet-sizes') ?? '100,1000').split(',').map(Number);
  const wanted = flag('fleet-peers')?.split(',') ?? Object.keys(peers);
  const unknown = wanted.filter((name) => !Object.hasOwn(peers, name));
  if (unknown.length > 0) throw new Error(`no peer is called ${unknown.join(', ')}`);
  const controlPlane = await startControlPlane({ unthrottled: true });
  const results: FleetResult[] = [];
  try {
    const client = await clientFromKubeConfig({ path: controlPlane.kubeConfigPath });
    await ensureCrd(client, Ship.crd);
    await client.close();
    for (const size of sizes) {
      for (const peer of wanted as readonly Peer[]) {
        results.push({ peer, size, phases: await measureFleet({ controlPlane, peer, size }) });
        await save(results);
      }
    }
  } finally {
    await controlPlane.stop();
  }
  return sizes.flatMap((size) => resultsOf(results.filter((each) => each.size === size)));
}

interface Measure {
  readonly controlPlane: ControlPlane;
  readonly peer: Peer;
  readonly size: number;
}

async function measureFleet({ controlPlane, peer, size }: Measure): Promise<PhaseResult[]> {
  const { elects } = peers[peer];
  const fleet = new Fleet({ controlPlane, peer, size, elects });
  const phases: PhaseResult[] = [];
  const note = (result: PhaseResult): void => {
    phases.push(result);
    const { phase, seconds, cpuSeconds, peakRssBytes, requests } = result;
    const numbers = `${seconds.toFixed(1)} s, CPU ${cpuSeconds.toFixed(2)} s, ${Math.round(peakRssBytes / 2 ** 20)} MiB`;
    process.stderr.write(`${peer} ${size} ${phase}: ${numbers} ${JSON.stringify(requests)}\n`);
  };
  try {
    await fleet.start();
    note(await fleet.create());
    note(await fleet.idle());
    note(await fleet.touch());
    note(await fleet.roll());
    if (elects) note(await fleet.failOver());
    note(await fleet.delete());
  } finally {
    await fleet.stop();
  }
  return phases;
}

async function save(results: readonly FleetResult[]): Promise<void> {
  const machine = `${cpus().length} x ${cpus()[0]?.model ?? 'CPU'}`;
  const whole: FleetReport = {
    date: new Date().toISOString(),
    machine,
    node: process.version,
    results,
  };
  await mkdir('bench/results', { recursive: true });
  await writeFile('bench/results/fleet.json', `${JSON.stringify(whole, null, 2)}\n`);
}

function resultsOf(results: readonly FleetResult[]): readonly BenchResult[] {
  const size = results[0]?.size ?? 0;
  const phases = results[0]?.phases.map(({ phase }) => phase) ?? [];
  const of = (phase: string, unit: string, value: (one: PhaseResult) => number): BenchResult => ({
    ...{ name: `fleet of ${size}: ${phase}`, unit },
    rows: results.flatMap(({ peer, phases: all }) => {
      const one = all.find((each) => each.phase === phase);
      if (one === undefined) return [];
      const number = value(one);
      return [{ label: peer, median: number, min: number, max: number }];
    }),
  });
  return phases.flatMap((phase) => [
    of(phase, 's', ({ seconds }) => seconds),
    of(phase, 'CPU seconds of the operator', ({ cpuSeconds }) => cpuSeconds),
    of(phase, 'peak MiB', ({ peakRssBytes }) => peakRssBytes / 2 ** 20),
    of(phase, 'writes a resource', ({ requests }) => writesOf(requests) / size),
  ]);
}

function writesOf(requests: PhaseResult['requests']): number {
  const verbs = ['create', 'update', 'patch', 'delete', 'deletecollection'];
  return verbs.reduce((sum, verb) => sum + (requests[verb] ?? 0), 0);
}
