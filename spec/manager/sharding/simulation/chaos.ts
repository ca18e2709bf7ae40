import type { ModelGroup } from './model-group.js';
import type { ModelProcess, Network } from './model-process.js';

/** Injects faults at random moments for `forMs`. All of them are over by then, or soon after. */
export function chaos(group: ModelGroup, forMs: number): void {
  const { time } = group;
  let lost = false;
  const faults: ((process: ModelProcess) => void)[] = [
    (process) => {
      process.kill();
      time.after(time.between(0, 5_000), () => group.start());
    },
    (process) => {
      process.pause();
      time.after(time.between(50, 8_000), () => process.resume());
    },
    (process) => cut(process, 'requests'),
    (process) => cut(process, 'answers'),
    (process) => cut(process, 'lists'),
    (process) => cut(process, 'writes'),
    (process) => {
      process.network.latencyMs = time.between(5, 1_500);
      time.after(time.between(500, 8_000), () => (process.network.latencyMs = 5));
    },
    (process) => {
      process.stop();
      time.after(time.between(0, 3_000), () => group.start());
    },
    () => {
      if (group.alive.length < 6) group.start();
    },
    // Loses the record or a Lease, but only once: deleting everything at one time would allow two owners until the next
    // renewal.
    (process) => {
      if (lost) return;
      lost = true;
      time.pick([
        () => group.server.loseRecord(),
        () => group.server.lose(process.machine.name),
      ])?.();
    },
  ];
  const cut = (process: ModelProcess, what: Network['cut']): void => {
    process.network.cut = what;
    time.after(time.between(50, 8_000), () => (process.network.cut = 'none'));
  };
  const endMs = time.nowMs + forMs;
  const strike = (): void => {
    if (time.nowMs > endMs) return;
    const leader = time.random.next() < 0.4 ? group.leader() : undefined;
    const process = leader ?? time.pick(group.alive);
    const fault = time.pick(faults);
    if (process !== undefined) fault?.(process);
    time.after(time.between(50, 3_000), strike);
  };
  time.after(time.between(0, 3_000), strike);
}
