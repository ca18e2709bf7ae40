/** Formats the time since `timestamp` as kubectl prints ages: `5s`, `3m20s`, `4h`, `12d`, `2y35d`. */
export function ageText(timestamp: string | null | undefined, nowMs: number): string {
  if (timestamp === undefined || timestamp === null || timestamp === '') return '<unknown>';
  return durationText(nowMs - Date.parse(timestamp));
}

/**
 * Formats milliseconds as kubectl prints durations: at most two units, the smaller one only if it
 * matters.
 */
export function durationText(milliseconds: number): string {
  const seconds = Math.trunc(milliseconds / 1000);
  if (seconds < -1) return '<invalid>';
  if (seconds < 0) return '0s';
  if (seconds < 120) return `${seconds}s`;
  const minutes = Math.trunc(seconds / 60);
  if (minutes < 10) return joined(`${minutes}m`, `${seconds % 60}s`);
  if (minutes < 180) return `${minutes}m`;
  const hours = Math.trunc(minutes / 60);
  if (hours < 8) return joined(`${hours}h`, `${minutes % 60}m`);
  if (hours < 48) return `${hours}h`;
  const days = Math.trunc(hours / 24);
  if (hours < 24 * 8) return joined(`${days}d`, `${hours % 24}h`);
  if (days < 365 * 2) return `${days}d`;
  const years = Math.trunc(days / 365);
  return days < 365 * 8 ? joined(`${years}y`, `${days % 365}d`) : `${years}y`;
}

function joined(large: string, small: string): string {
  return small.startsWith('0') ? large : large + small;
}
