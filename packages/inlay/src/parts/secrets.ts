import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto'
import { InlayError } from '@inlay/protocol'

/** Encrypts keys that administrators add, with a key of the host. */
export interface Secrets {
  readonly hasKey: boolean
  /**
   * @param use what the secret is for, such as the address it is sent to: it opens for this use alone
   * @throws NOT_IMPLEMENTED without a key of the host
   */
  seal(secret: string, use: string): string
  /** Undefined when it was sealed with another key of the host, or for another use. */
  open(sealed: string, use: string): string | undefined
}

const ivBytes = 12
const tagBytes = 16

export function createSecrets(secretKey: string | undefined): Secrets {
  const key = secretKey && new Uint8Array(hkdfSync('sha256', secretKey, '', 'inlay secrets', 32))
  return {
    hasKey: Boolean(key),
    seal(secret, use) {
      if (!key) {
        const message =
          'A key is only stored encrypted, and this deployment has no key to do it with: set INLAY_SECRET_KEY (or the option secretKey) ' +
          'to a random text, such as `openssl rand -base64 32` prints, and start again.'
        throw new InlayError('NOT_IMPLEMENTED', { message })
      }
      const iv = randomBytes(ivBytes)
      const cipher = createCipheriv('aes-256-gcm', key, iv).setAAD(Buffer.from(use))
      const sealed = Buffer.concat([cipher.update(secret, 'utf8'), cipher.final()])
      return Buffer.concat([iv, cipher.getAuthTag(), sealed]).toString('base64')
    },
    open(text, use) {
      if (!key) return undefined
      const sealed = Buffer.from(text, 'base64')
      try {
        const decipher = createDecipheriv('aes-256-gcm', key, sealed.subarray(0, ivBytes), { authTagLength: tagBytes })
          .setAAD(Buffer.from(use))
          .setAuthTag(sealed.subarray(ivBytes, ivBytes + tagBytes))
        return Buffer.concat([decipher.update(sealed.subarray(ivBytes + tagBytes)), decipher.final()]).toString('utf8')
      } catch {
        return undefined
      }
    },
  }
}

export const unreadable = (what: string): InlayError =>
  new InlayError('UNSUPPORTED', {
    message: `The key of ${what} cannot be read, since INLAY_SECRET_KEY is not the one it was stored with: an administrator has to enter it again.`,
  })
