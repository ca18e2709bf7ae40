import { readFile } from 'node:fs/promises';
import type { CertificateSource } from '../../../lib/manager/webhooks/certificate-source.js';

/** The certificate of the specs, of a file; it says nothing about whom to trust. */
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
