/** The version of this package; a spec compares it with package.json. */
export const packageVersion = '0.1.0';

/**
 * Returns `operator-builder/0.1.0 (linux/x64) node/20`. For writes without a field manager, the server uses
 * the part before the slash.
 */
export function defaultUserAgent(): string {
  const [major = ''] = process.versions.node.split('.');
  return `operator-builder/${packageVersion} (${process.platform}/${process.arch}) node/${major}`;
}
