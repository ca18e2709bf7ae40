import { readFile, readdir } from 'node:fs/promises';
import { Counter, Gauge } from 'prom-client';
import type { Registry } from 'prom-client';

interface Described {
  readonly name: string;
  readonly help: string;
  readonly read: () => number | undefined | Promise<number | undefined>;
}

/**
 * Registers Prometheus' standard metrics of a process and its JavaScript heap. Values are read at each
 * scrape: prom-client's own collection would leave a monitor and an observer behind.
 */
export function registerProcessMetrics(registry: Registry): void {
  const registers = [registry];
  const missing = [...counters, ...gauges].filter(
    ({ name }) => registry.getSingleMetric(name) === undefined,
  );
  for (const described of missing) {
    const { name, help, read } = described;
    const Metric = counters.includes(described) ? Counter : Gauge;
    new Metric({
      ...{ name, help, registers },
      async collect() {
        const value = await read();
        this.reset();
        if (value !== undefined) this.inc(value);
      },
    });
  }
}

const cpu = (of: (usage: NodeJS.CpuUsage) => number) => (): number =>
  of(process.cpuUsage()) / 1_000_000;

const counters: readonly Described[] = [
  {
    name: 'process_cpu_seconds_total',
    help: 'CPU time in user and system mode.',
    read: cpu(({ user, system }) => user + system),
  },
  {
    name: 'process_cpu_user_seconds_total',
    help: 'CPU time in user mode.',
    read: cpu(({ user }) => user),
  },
  {
    name: 'process_cpu_system_seconds_total',
    help: 'CPU time in system mode.',
    read: cpu(({ system }) => system),
  },
];

const gauges: readonly Described[] = [
  {
    name: 'process_resident_memory_bytes',
    help: 'Memory of the process that is in RAM.',
    read: () => process.memoryUsage.rss(),
  },
  {
    name: 'process_virtual_memory_bytes',
    help: 'Address space of the process.',
    read: () => fromProc('/proc/self/status', /^VmSize:\s+(\d+) kB$/m, 1_024),
  },
  {
    name: 'process_start_time_seconds',
    help: 'When the process was started, in seconds since 1970.',
    read: () => startedAt(),
  },
  {
    name: 'process_open_fds',
    help: 'Open file descriptors.',
    // The count includes the descriptor that reading this folder opens.
    read: async () => (await orUndefined(readdir('/proc/self/fd')))?.length,
  },
  {
    name: 'process_max_fds',
    help: 'Maximum number of open file descriptors.',
    read: () => fromProc('/proc/self/limits', /^Max open files\s+(\d+)/m, 1),
  },
  {
    name: 'nodejs_heap_size_total_bytes',
    help: 'Size of the JavaScript heap.',
    read: () => process.memoryUsage().heapTotal,
  },
  {
    name: 'nodejs_heap_size_used_bytes',
    help: 'Used part of the JavaScript heap.',
    read: () => process.memoryUsage().heapUsed,
  },
  {
    name: 'nodejs_external_memory_bytes',
    help: 'Memory outside the heap that JavaScript objects hold.',
    read: () => process.memoryUsage().external,
  },
  {
    name: 'nodejs_active_resources_total',
    help: 'Timers, sockets and requests that keep the process alive.',
    read: () => process.getActiveResourcesInfo().length,
  },
];

/** Adds the process's start in clock ticks to the machine's boot time; undefined without /proc. */
async function startedAt(): Promise<number | undefined> {
  const uptime = await fromProc('/proc/stat', /^btime (\d+)$/m, 1);
  const stat = await orUndefined(readFile('/proc/self/stat', 'utf8'));
  if (uptime === undefined || stat === undefined) return undefined;
  // The 22nd field, counted after the process name, which may contain spaces; 100 ticks per second.
  const ticks = Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19]);
  return Number.isFinite(ticks) ? uptime + ticks / 100 : undefined;
}

async function fromProc(path: string, field: RegExp, unit: number): Promise<number | undefined> {
  const text = await orUndefined(readFile(path, 'utf8'));
  const value = field.exec(text ?? '')?.[1];
  return value === undefined ? undefined : Number(value) * unit;
}

/** Systems without /proc have fewer metrics. */
function orUndefined<T>(reading: Promise<T>): Promise<T | undefined> {
  return reading.catch(() => undefined);
}
