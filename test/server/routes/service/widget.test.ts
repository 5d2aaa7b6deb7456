import { expect, test } from 'vitest'
import { setup } from '../../fakes.ts'

test('the script of the element is there for every page, without a key', async () => {
  const { ask } = setup({ widget: async () => 'customElements' })
  const response = await ask('/inlay-chat.js', { key: null, headers: { origin: 'https://elsewhere.example' } })
  expect(await response.text()).toBe('customElements')
  const names = ['content-type', 'access-control-allow-origin', 'cross-origin-resource-policy']
  expect(names.map((name) => response.headers.get(name))).toEqual([
    'text/javascript; charset=utf-8',
    '*',
    'cross-origin',
  ])
})

test('a build without the script says so', async () => {
  for (const options of [{}, { widget: async () => undefined }]) {
    const response = await setup(options).ask('/inlay-chat.js', { key: null })
    expect(response.status).toBe(404)
    expect(await response.json()).toMatchObject({ error_code: 'NOT_FOUND' })
  }
})
