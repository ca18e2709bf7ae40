import type { Output } from '../kubectl.js';

/** Characters of generated names: no vowels, so that they form no words. */
const safe = '[bcdfghjklmnpqrstvwxz2456789]';

/** Replaces what differs between two runs: names of the namespace, generated names, times, IPs, versions. */
const replacements: readonly (readonly [pattern: RegExp, by: string])[] = [
  [/[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}/g, 'UID'],
  [/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z/g, 'TIME'],
  [/[A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d [+-]\d{4}/g, 'TIME'],
  [/("?resourceVersion"?): "\d+"/g, '$1: VERSION'],
  [/(Resource Version:\s+)\d+/g, '$1VERSION'],
  [/\b\d+\.\d+\.\d+\.\d+\b/g, 'IP'],
  [/\b(?:\d+d)?(?:\d+h)?(?:\d+m)?\d+s\b/g, 'AGE'],
  [/\b3[0-2]\d{3}\b/g, 'PORT'],
  [/\/tmp\/(LIVE|MERGED)-\d+/g, '/tmp/$1'],
  [new RegExp(`-${safe}{8,10}-${safe}{5}\\b`, 'g'), '-HASH-RANDOM'],
  [new RegExp(`-${safe}{8,10}\\b`, 'g'), '-HASH'],
  [/pod-template-hash=\w+/g, 'pod-template-hash=HASH'],
  [/\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d+ [+-]\d{4}/g, 'TIME'],
  [/[ \t]+/g, ' '],
  [/ $/gm, ''],
];

export function normalized(output: Output, namespace: string): Output {
  const text = (given: string): string =>
    replacements.reduce(
      (result, [pattern, by]) => result.replace(pattern, by),
      given.replaceAll(namespace, 'NAMESPACE'),
    );
  return {
    code: output.code,
    stdout: sortedData(text(output.stdout)),
    stderr: sortedCauses(text(output.stderr)),
  };
}

/** Sorts the data of a ConfigMap, which `kubectl describe` prints from a Go map, in random order. */
function sortedData(stdout: string): string {
  const entry = /^\S+:\n----\n.*\n\n/gm;
  const sorted = (stdout.match(entry) ?? []).toSorted();
  return stdout.replace(entry, () => sorted.shift() ?? '');
}

/** Sorts the causes of a refused custom resource. The real server takes them from a Go map, in random order. */
function sortedCauses(stderr: string): string {
  const lines = stderr.split('\n');
  const first = lines.findIndex((line) => line.startsWith('* '));
  if (first < 0) return stderr;
  const causes = lines.filter((line) => line.startsWith('* ')).toSorted();
  return [...lines.slice(0, first), ...causes].join('\n');
}
