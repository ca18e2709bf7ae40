/** The version of this package; a spec compares it with package.json. */
export const packageVersion = '0.1.0';

/**
 * `operator-builder/0.1.0 (linux/x64) node/20`. The server takes what stands before the slash as
 * the field manager of writes that name none.
 */
export function defaultUserAgent(): string {
  const [major = ''] = process.versions.node.split('.');
  return `operator-builder/${packageVersion} (${process.platform}/${process.arch}) node/${major}`;
}
