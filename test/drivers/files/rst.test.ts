import { fileExtractor } from '@inlay/drivers/file-extraction'
import { afterAll, expect, test } from 'vitest'
import { utf8 } from './samples.ts'

const extract = fileExtractor()
afterAll(() => extract.close())

const read = async (text: string) => {
  const { title, mediaType, sections } = await extract({ name: 'guide.rst', bytes: utf8(text) })
  return { title, mediaType, text: sections.map((section) => section.text).join('\n\n') }
}

test('underlined headings become headings by the order of their marks, the first the title', async () => {
  const guide = `.. _guide:

=========
The Guide
=========

Lines of one
paragraph.

Set-up
~~~~~~

Before it.

\`\`lamp\`\` lights
--------------

Very deep.

Use
~~~

The end.
`
  expect(await read(guide)).toEqual({
    title: 'The Guide',
    mediaType: 'text/x-rst',
    text: '# The Guide\n\nLines of one\nparagraph.\n\n## Set-up\n\nBefore it.\n\n### ``lamp`` lights\n\nVery deep.\n\n## Use\n\nThe end.',
  })
})

test('code keeps its lines and its language, comments and tables of contents go', async () => {
  const text = `Write this::

    if a:
        # b
        b()

Then run it:

.. code-block:: bash
   :linenos:

   lampd --start

.. contents:: Here
   :depth: 2

.. This is a comment
   of two lines.

- Or::

    lampd

  as well.

It ends
.. here.
`
  expect((await read(text)).text).toBe(
    'Write this:\n\n```\nif a:\n    # b\n    b()\n```\n\nThen run it:\n\n```bash\nlampd --start\n```\n\n- Or:\n\n```\nlampd\n```\n\n  as well.\n\nIt ends\n.. here.',
  )
})

test.each([
  '31. Dezember 2025 ist der letzte Tag.',
  'A. Smith wrote this letter to us\nand signed it.\n\nB. Jones read it.',
  '10) Close it.\n#) Go.\n\n(b) In winter.\n\na. One\n\n   more',
  'See [1]_ and ``a[1]_`` of `Relays`_.\n\n.. [1] The fee is 40 EUR\n   per year.\n.. _Relays: https://lamps.example/',
  'It is |the fee| for <name>.\n\n.. |the fee| replace:: *40*\n   EUR',
  '.. image:: a.png\n   :width: 3\n   :alt: The lamp\n      glows',
  '.. versionadded:: 2.1\n\n.. option:: -f FILE\n\n   Reads ``FILE``.',
  '+-------+----------+\n| Lamp  | Price    |\n+=======+==========+\n| Small | 10 euros |\n+-------+----------+',
  '=====  ========\nLamp   Price\n=====  ========\nSmall  10 euros\n=====  ========',
  '.. csv-table:: Fees\n   :header: "Year", "Fee, net"\n\n   2025, "40 EUR"',
  'relay\n  Passes lamps on\n  to others.\n\n:Author: Ann',
  'Foo::',
])('%j stays as it is written', async (text) => {
  expect((await read(`${text}\n`)).text).toBe(text)
})

test.each([
  ['.. math:: E = mc^2', '```\nE = mc^2\n```'],
  ['.. math::\n   :label: eq\n\n   E = mc^2', '```\nE = mc^2\n```'],
  ['.. parsed-literal:: lampd\n   --start', '```\nlampd\n--start\n```'],
  ['.. code-block:: bash\n   :caption: start.sh\n\n   lampd', 'start.sh\n```bash\nlampd\n```'],
  ['.. warning:: Do not open it\n   while it is hot.', 'Do not open it\nwhile it is hot.'],
  ['.. rubric:: The rules', 'The rules'],
  ['.. topic:: Fees\n\n   40 EUR.', 'Fees\n\n40 EUR.'],
  ['.. sidebar:: Fees\n   :subtitle: of 2025\n\n   40 EUR.', 'Fees\nof 2025\n\n40 EUR.'],
  ['.. tabs::\n\n   .. tab:: Linux\n\n      Use apt.', 'Linux\n\nUse apt.'],
  ['.. epigraph:: Light is\n   all.', 'Light is\nall.'],
])('what readers of %j see is kept', async (text, expected) => {
  expect((await read(text)).text).toBe(expected)
})

test('spaces are read in linear time', async () => {
  const spaces = ' '.repeat(400_000)
  const started = performance.now()
  for (const line of [`a${spaces}b::`, `:a:${spaces}b\u2028c`, `.. note::${spaces}b\u2028c`, `\`a${spaces}b <`])
    expect((await read(`x\n\n${line}\n`)).text).toContain('b')
  expect(performance.now() - started).toBeLessThan(60_000)
}, 120_000)

test('a file of marks is read in linear time', async () => {
  const started = performance.now()
  for (const mark of ['`', '|a', '..', ':a:`', '+-', '== ', '<', '**', ':: \n\n  '])
    await extract({ name: 'a.rst', bytes: utf8(`x ${mark.repeat(200_000)}`) }).catch(() => undefined)
  expect(performance.now() - started).toBeLessThan(60_000)
}, 120_000)
