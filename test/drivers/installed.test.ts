import { installed } from '@inlay/drivers/internal/installed'
import { expect, test } from 'vitest'

const notFound = (name: string) =>
  Object.assign(new Error(`Cannot find package '${name}' imported from /app/x.js`), { code: 'ERR_MODULE_NOT_FOUND' })

test('a package that is not installed is refused with the command that installs it', async () => {
  await expect(installed('pg', () => Promise.reject(notFound('pg')))).rejects.toMatchObject({
    code: 'UNSUPPORTED',
    message: 'The package pg is not installed: run `npm install pg`.',
  })
})

test('a package that is there and fails by itself says so itself', async () => {
  for (const error of [notFound('pg-types'), new Error('Cannot find native part')])
    await expect(installed('pg', () => Promise.reject(error))).rejects.toBe(error)
})
