import { readFile } from 'node:fs/promises';
import type { CertificateSource } from '../../../lib/manager/webhooks/certificate-source.js';

/** Returns a certificate from the files of the specs, without an authority to trust. */
export function staticCertificate(): CertificateSource {
  const read = (name: string): Promise<string> =>
    readFile(new URL(`../../system/certificates/${name}`, import.meta.url), 'utf8');
  return {
    start: async () => ({
      certificate: await read('server.pem'),
      privateKey: await read('server.key'),
    }),
  };
}
