import { render } from 'preact'
import { Gate } from './service/gate.tsx'
import { followGround } from './styles/follow-ground.ts'
import { loadTexts } from './texts/texts.ts'

const place = document.getElementById('app')
followGround()
if (place !== null) void loadTexts().then(() => render(<Gate />, place))
